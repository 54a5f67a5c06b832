#include "text.hpp"

#include <iterator>

namespace supratok {
namespace {

struct Range {
  uint32_t first;
  uint8_t cls, script;
};

constexpr Range ranges[] = {
#include "unicode_table.inc"
};

std::vector<CharInfo> flat_table() {
  std::vector<CharInfo> table(kCodePoints);
  for (size_t i = 0; i < std::size(ranges); ++i) {
    const uint32_t end = i + 1 < std::size(ranges) ? ranges[i + 1].first : kCodePoints;
    std::fill(table.begin() + ranges[i].first, table.begin() + end,
              CharInfo{static_cast<CharClass>(ranges[i].cls), ranges[i].script});
  }
  return table;
}

}  // namespace

// Never freed: threads may read it while the process exits.
const CharInfo* const char_table = (new auto(flat_table()))->data();

}  // namespace supratok
