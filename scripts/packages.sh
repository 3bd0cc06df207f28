#!/bin/sh
# Installs the packages of scripts/packages.txt that are missing; says and does nothing where none is. Knows Debian
# and its relatives only; elsewhere it names what is needed and goes on.
#
# usage: scripts/packages.sh GROUP...
set -eu
list=$(dirname "$0")/packages.txt

wanted=$(for group in "$@"; do sed -n "s/^$group //p" "$list"; done)
if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system: if the build fails, install what these are called here:" $wanted >&2
    exit 0
fi

# Virtual packages do not occur in the list, so a package is there exactly if dpkg knows it as installed.
present=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p')
missing=$(for package in $wanted; do echo "$present" | grep -qxF "$package" || echo "$package"; done)
[ -n "$missing" ] || exit 0

echo "Installing" $missing
if [ "$(id -u)" = 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null; then
    as_root="sudo env"
else
    echo "This needs root: run 'apt-get install" $missing"' as root, then start again." >&2
    exit 1
fi
apt="$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300"

# A package that apt has never heard of, or an old list that leads nowhere, is cured by an update; try without first.
$apt install --simulate $missing >/dev/null 2>&1 || $apt update </dev/null
$apt install -y --no-install-recommends $missing </dev/null ||
    { $apt update </dev/null && $apt install -y --no-install-recommends $missing </dev/null; }
