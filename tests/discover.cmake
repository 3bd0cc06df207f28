# Tells CTest the tests of `program`, when CTest starts: each with all values of its parameters in one process, because a
# process takes longer to start, and SimGrid to load, than most values take to test. A failure names its value. The caller
# has set `label` and `timeout` (seconds, of a test).
get_filename_component(name ${program} NAME)
if(NOT EXISTS ${program})
    add_test(${name}_is_not_built ${name}_is_not_built)
    return()
endif()
execute_process(COMMAND ${program} --gtest_list_tests --gtest_filter=-*DISABLED_*
    OUTPUT_VARIABLE list ERROR_VARIABLE problem RESULT_VARIABLE code)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "${program} cannot list its tests (${code}):\n${list}${problem}")
endif()

# Lines without indentation are suites ("Worlds/Channels."), those after them their tests ("KeepTheOrder/sim  # ...").
string(REGEX REPLACE "[ ]+#[^\n]*" "" list "${list}")
string(REGEX REPLACE "[];[]" "_" list "${list}")
string(REPLACE "\n" ";" list "${list}")
set(tests "")
foreach(line IN LISTS list)
    if(line MATCHES "^[^ ].*\\.$")
        set(suite ${line})
    elseif(line MATCHES "^  ([^/]+)(/?)")
        set(test ${suite}${CMAKE_MATCH_1})
        if(CMAKE_MATCH_2)
            list(APPEND tests "${test}/*")
        else()
            list(APPEND tests "${test}")
        endif()
    endif()
endforeach()
list(REMOVE_DUPLICATES tests)

# A test is skipped if all its values were: then this is the end of what the program says.
set(all_skipped "\\[  PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\][^\n]*\n+)+$")
foreach(filter IN LISTS tests)
    string(REGEX REPLACE "/\\*$" "" test "${filter}")
    add_test(${test} ${program} --gtest_filter=${filter})
    # Those with many values take the longest after scripts: CTest begins with them, and ends with short ones.
    string(COMPARE NOTEQUAL "${filter}" "${test}" cost)
    set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT ${timeout} COST ${cost}
        SKIP_REGULAR_EXPRESSION "${all_skipped}")
endforeach()
