// A checked view of one value in a parsed JSON document.
//
// A Node knows its place, as a JSON pointer.  The first thing found wrong is kept in the
// Status of the document; after it every getter gives a harmless value, so that code which
// renders need not test each field and its output is thrown away at the end.
#ifndef RESMEM_REPORT_NODE_H_
#define RESMEM_REPORT_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"
#include "support/json.h"

namespace resmem {

// kBadData where the text is not JSON, nested too deep or too large.
Result<SortedJson> ParseJson(std::string_view text);

class Node {
 public:
  // Both must outlive the Node and all made from it.
  Node(const SortedJson* value, Status* problem) : value_(value), problem_(problem) {}

  const std::string& path() const { return path_; }

  Node At(std::string_view name) const;                       // must be there
  std::optional<Node> Find(std::string_view name) const;      // nothing where absent or null
  std::vector<Node> Items() const;                            // of an array
  std::vector<std::pair<std::string, Node>> Members() const;  // of an object

  double Number() const;       // finite
  double NumberOrNan() const;  // null is NaN
  double Share() const;        // 0 .. 1
  int64_t Integer() const;
  int64_t Count() const;  // an integer >= 0
  std::string Text() const;
  bool Flag() const;
  // The number as it stands in the document, to be shown beside its rounded form.
  std::string Exact() const;
  bool SameAs(const Node& other) const { return *value_ == *other.value_; }

  // Remembers what is wrong here: "<path> is <value>, but must be <allowed>".
  void Fail(std::string_view allowed) const;

 private:
  Node(const SortedJson* value, Status* problem, std::string path)
      : value_(value), problem_(problem), path_(std::move(path)) {}
  Node Child(const SortedJson& value, std::string_view name) const;

  const SortedJson* value_;
  Status* problem_;
  std::string path_;
};

}  // namespace resmem

#endif  // RESMEM_REPORT_NODE_H_
