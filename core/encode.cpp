// Apart from the bindings: in a file with much other code, the compiler inlines less of the loops.
#include "encode.hpp"

namespace supratok {

size_t Encoder::encode_entries(std::string_view text, Numbers& out, bool emit) const {
  if (fewest_) return fewest_->encode(entries_, text, emit, out);
  if (!levels_) return merges_.encode(entries_, text, out);
  const size_t start = out.size();
  levels_->encode(text, out);
  return out.size() - start;
}

}  // namespace supratok
