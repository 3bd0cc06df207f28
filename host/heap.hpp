// How the C library's heap of this process takes memory from the system, and whether it gives it back.
#pragma once

namespace heddle::host {

/// Keeps what is freed for the next use. By default the C library gives blocks of some hundred KiB and more
/// back to the system: the pages of each message and of each array would be taken, cleared and given back
/// once more. Memory that was used once stays with the process, up to half a GiB that lies together.
/// Address space is taken in large pieces, so that huge pages fit.
void keep_freed_memory();

/// Lets the heap use huge pages (2 MiB in place of 4 KiB) where the system gives them on request. Programs
/// that use much memory for the first time take up to 0.4 of their time less then. The C library asks for
/// them only if a variable of the environment says so when a program begins, so this begins the program once
/// more, with the arguments `argv`. Without these it sets the variable for the programs that this process
/// will start.
///
/// Returns where nothing is to be done or it does not work. Call it in main, before all else.
void use_huge_pages(char** argv);

}  // namespace heddle::host
