// An empty source for the target that compiles the tests' precompiled header (tests/CMakeLists.txt).
