// What a run that cannot go on says: whether the memory that it was changing has changed.  Nothing
// here takes memory, since there may be none.
#ifndef RESMEM_CLI_PROCESS_LAST_WORDS_H_
#define RESMEM_CLI_PROCESS_LAST_WORDS_H_

#include <string_view>

namespace resmem::cli {

// The next change of a memory; `done` says what it is when it is made: "the rows were added".  A
// literal, as `before`: what this command has changed until here.  Called before the change.
void AnnounceChange(const char* done, const char* before = nullptr);
// What the command was asked for lies on the disk: "the arrays are complete".  A literal.  Called
// as soon as it does, where that is no change of a memory.
void AnnounceOutput(const char* done);

// What is left, for the end of an error `message`: "" where no change was announced or the message
// tells that itself.
std::string_view StateOfChange(std::string_view message);
bool ChangeWasMade();

// "error: out of memory ...", with what is left.  Gives the exit code.
int SayOutOfMemory();

// At the start of a program:
// - reserves the standard descriptors;
// - ends with an error that names the file where a mapped file became shorter under us;
// - installs a terminate handler.  A destructor that finds no memory cannot throw: the language
// ends
//   the program, which then ends as any other that is out of memory; what lies on disk is the old
//   state or the new one at any instant;
// - has the C library load its unwinder.  Otherwise it does so when an exception first passes
//   through a frame of its own (libraries below us use std::call_once), and aborts without memory.
void PrepareForTheWorst();

}  // namespace resmem::cli

#endif  // RESMEM_CLI_PROCESS_LAST_WORDS_H_
