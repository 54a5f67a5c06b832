// Encodings of many texts, and what can be read from them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encode.hpp"
#include "text.hpp"

namespace supratok {

using Ids = std::vector<uint32_t>;

// Encodes texts on several threads, in portions; calls ready(first, ids) for each, in no particular
// order and on any thread, where ids[i] belong to text first + i.
void encode_all(const Encoder& encoder, const Texts& texts, size_t threads,
                const std::function<void(size_t first, std::vector<Ids> ids)>& ready);

// How often each id occurs in the encodings of the texts, each counted `weights` times, or once if
// there are none.
std::vector<int64_t> usage(const Encoder& encoder, const Texts& texts, size_t threads,
                           const int64_t* weights);

// The place of each token in the text, in characters. The bytes of one character share its place.
std::vector<std::pair<size_t, size_t>> offsets(const Encoder& encoder, std::string_view text,
                                               const Ids& ids);

std::string decode(const Encoder& encoder, const Ids& ids);

}  // namespace supratok
