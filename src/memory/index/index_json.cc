#include "memory/index/index_json.h"

#include <set>
#include <utility>

#include "memory/manifest/file_names.h"
#include "memory/manifest/file_record_json.h"
#include "support/text.h"

namespace resmem {
namespace {

Result<double> ShareFromJson(const Json& object, const char* name, const std::string& where) {
  Fields fields(object, where);
  const Json* value = fields.Find(name);
  RESMEM_RETURN_IF_ERROR(fields.status());
  const double share = value->is_number() ? value->get<double>() : -1;
  if (!(share >= 0 && share <= 1)) {
    return CorruptManifest(Text(where, ": ", name, " is not a number from 0 to 1"));
  }
  return share;
}

// For a k above `previous`.
Result<MeasuredEffort> EffortFromJson(const Json& object, int64_t previous,
                                      const std::string& where) {
  MeasuredEffort measured;
  SearchEffort& effort = measured.effort;
  Fields fields(object, where);
  fields.Get("k", &effort.k);
  fields.Get("depth", &effort.depth);
  // Before there was a reach, every query read as many lists.
  const bool without_reach = !object.contains("reach") && object.contains("probes");
  fields.Get(without_reach ? "probes" : "lists", &effort.lists);
  const Json none = 0;
  const Json* reach = without_reach ? &none : fields.Find("reach");
  RESMEM_RETURN_IF_ERROR(fields.status());
  effort.reach = reach->is_number() ? reach->get<double>() : -1;
  const int64_t k = effort.k;
  if (k <= previous || k > kMostNeighbors || !(effort.reach >= 0 && effort.reach < 1e300) ||
      effort.lists < 1 || effort.lists > INT32_MAX || effort.depth < k ||
      effort.depth > kMostDepth * k) {
    return CorruptManifest(Text(
        where, " is reach ", reach->dump(), ", ", effort.lists, " lists and depth ", effort.depth,
        " for k = ", k, "; expected k above ", previous, " and up to ", kMostNeighbors,
        ", a reach of 0 or more, 1 or more lists, depth k to ", kMostDepth, " k"));
  }
  if (object.contains("exact")) {
    if (!object["exact"].is_boolean()) {
      return CorruptManifest(Text(where, ": exact is neither true nor false"));
    }
    measured.exact = object["exact"].get<bool>();
  }
  RESMEM_ASSIGN_OR_RETURN(measured.recall, ShareFromJson(object, "recall", where));
  return measured;
}

Result<IndexPart> PartFromJson(const Json& object, int64_t generation, const std::string& where) {
  IndexPart part;
  RESMEM_ASSIGN_OR_RETURN(part.file, RecordFromJson(object, kIndexPrefix, generation, where));
  Fields fields(object, where);
  const Json* efforts = fields.Find("efforts");
  RESMEM_RETURN_IF_ERROR(fields.status());
  if (!efforts->is_array()) return CorruptManifest(Text(where, ": efforts is not a list"));
  int64_t largest_k = 0;
  for (const Json& entry : *efforts) {
    RESMEM_ASSIGN_OR_RETURN(
        const MeasuredEffort effort,
        EffortFromJson(entry, largest_k, Text(where, ", effort ", part.efforts.size())));
    part.efforts.push_back(effort);
    largest_k = effort.effort.k;
  }
  if (largest_k != kMostNeighbors) {
    return CorruptManifest(
        Text(where, ": efforts end at k = ", largest_k, ", expected ", kMostNeighbors));
  }
  return part;
}

// Missing where nothing stands in the way, and in files of before it was written down.
Result<std::optional<IndexObstacle>> ObstacleFromJson(const Json& object) {
  const auto found = object.find("obstacle");
  if (found == object.end() || found->is_null()) return std::optional<IndexObstacle>();
  IndexObstacle obstacle;
  Fields fields(*found, "obstacle of the index");
  fields.Get("rows", &obstacle.rows);
  fields.Get("why", &obstacle.why);
  const Json* ids = fields.Find("ids");
  RESMEM_RETURN_IF_ERROR(fields.status());
  if (!ids->is_array()) return CorruptManifest("obstacle of the index: ids is not a list");
  for (const Json& id : *ids) {
    if (!id.is_number_unsigned()) {
      return CorruptManifest(Text("obstacle of the index: the id ", id.dump(), " is no number"));
    }
    obstacle.ids.push_back(id.get<uint64_t>());
  }
  return std::optional(std::move(obstacle));
}

// Missing in files of before there were two kinds.
Result<int> CodeBitsFromJson(const Json& object) {
  if (!object.contains("code_bits")) return 8;
  if (object["code_bits"] == 8) return 8;
  if (object["code_bits"] == 4) return 4;
  if (object["code_bits"] == 2) return 2;
  return CorruptManifest(
      Text("the index: code_bits is ", object["code_bits"].dump(), ", expected 8, 4 or 2"));
}

}  // namespace

Json IndexToJson(const IndexRecord& index) {
  Json parts = Json::array();
  for (const IndexPart& part : index.parts) {
    Json efforts = Json::array();
    for (const MeasuredEffort& measured : part.efforts) {
      efforts.push_back({{"k", measured.effort.k},
                         {"reach", measured.effort.reach},
                         {"lists", measured.effort.lists},
                         {"depth", measured.effort.depth},
                         {"recall", measured.recall},
                         {"exact", measured.exact}});
    }
    Json record = RecordToJson(part.file);
    record["efforts"] = std::move(efforts);
    parts.push_back(std::move(record));
  }
  Json json = {{"recall", index.recall},
               {"seed", index.seed},
               {"code_bits", index.code_bits},
               {"queries", index.queries ? RecordToJson(*index.queries) : Json(nullptr)},
               {"parts", std::move(parts)}};
  if (const std::optional<IndexObstacle>& obstacle = index.obstacle) {
    json["obstacle"] = {{"rows", obstacle->rows}, {"why", obstacle->why}, {"ids", obstacle->ids}};
  }
  return json;
}

Result<IndexRecord> IndexFromJson(const Json& object, const Manifest& manifest) {
  IndexRecord index;
  Fields fields(object, "the index");
  fields.Get("seed", &index.seed);
  const Json* parts = fields.Find("parts");
  RESMEM_RETURN_IF_ERROR(fields.status());
  RESMEM_ASSIGN_OR_RETURN(index.recall, ShareFromJson(object, "recall", "the index"));
  RESMEM_ASSIGN_OR_RETURN(index.code_bits, CodeBitsFromJson(object));
  RESMEM_ASSIGN_OR_RETURN(index.obstacle, ObstacleFromJson(object));
  if (!parts->is_array()) return CorruptManifest("the index: parts is not a list");
  const auto queries = object.find("queries");  // indexes had none at first
  if (queries != object.end() && !queries->is_null()) {
    RESMEM_ASSIGN_OR_RETURN(
        index.queries,
        RecordFromJson(*queries, kQueriesPrefix, manifest.generation, "queries of the index"));
  }
  std::set<std::string> files;
  auto segment = manifest.segments.begin();
  for (const Json& entry : *parts) {
    const std::string where = Text("part ", index.parts.size(), " of the index");
    RESMEM_ASSIGN_OR_RETURN(IndexPart part, PartFromJson(entry, manifest.generation, where));
    if (!files.insert(part.file.file).second) {
      return CorruptManifest(Text(where, " names ", part.file.file, " again"));
    }
    int64_t left = part.file.rows;
    for (; left > 0 && segment != manifest.segments.end(); ++segment) left -= segment->rows;
    if (left != 0) {
      return CorruptManifest(
          Text(where, " has ", part.file.rows, " rows, which are not those of whole segments"));
    }
    index.parts.push_back(std::move(part));
  }
  return index;
}

}  // namespace resmem
