// Encodings of many texts, and what can be read from them.
#pragma once

#include "encode.hpp"
#include "threads.hpp"

namespace supratok {

using Ids = std::vector<uint32_t>;

// Encodes texts on several threads, in portions; calls ready(first, ids) for each, in no particular
// order and on any thread, where ids[i] belong to text first + i.
template <class Ready>
void encode_all(const Encoder& encoder, const Texts& texts, size_t threads, Ready ready) {
  constexpr size_t kPortion = 1 << 17;  // bytes: `ready` is called once for many short texts
  std::vector<size_t> ends{0};
  for (size_t i = 0, bytes = 0; i < texts.size(); ++i) {
    bytes += texts[i].size();
    if (bytes < kPortion && i + 1 < texts.size()) continue;
    ends.push_back(i + 1);
    bytes = 0;
  }
  in_parallel(ends.size() - 1, threads, [&](size_t portion) {
    const size_t first = ends[portion];
    std::vector<Ids> ids(ends[portion + 1] - first);
    for (size_t i = 0; i < ids.size(); ++i) encoder.encode(texts[first + i], ids[i]);
    ready(first, std::move(ids));
  });
}

// How often each id occurs in the encodings of the texts, each counted `weights` times, or once if
// there are none.
inline std::vector<int64_t> usage(const Encoder& encoder, const Texts& texts, size_t threads,
                                  const int64_t* weights) {
  std::vector<int64_t> uses(encoder.end_id());
  std::mutex lock;
  encode_all(encoder, texts, threads, [&](size_t first, const std::vector<Ids>& ids) {
    const std::lock_guard guard(lock);
    for (size_t i = 0; i < ids.size(); ++i)
      for (const uint32_t id : ids[i]) uses[id] += weights ? weights[first + i] : 1;
  });
  return uses;
}

// The place of each token in the text, in characters. The bytes of one character share its place.
inline std::vector<std::pair<size_t, size_t>> offsets(const Encoder& encoder, std::string_view text,
                                                      const Ids& ids) {
  std::vector<std::pair<size_t, size_t>> places;
  size_t byte = 0, chars = 0;  // characters begun before `byte`
  for (const uint32_t id : ids) {
    const size_t end = byte + encoder.bytes_of(id).size();
    const size_t first = leads_char(text[byte]) ? chars : chars - 1;
    for (; byte < end; ++byte) chars += leads_char(text[byte]);
    places.emplace_back(first, chars);
  }
  return places;
}

inline std::string decode(const Encoder& encoder, const Ids& ids) {
  std::string bytes;
  for (const uint32_t id : ids) {
    if (!encoder.knows(id)) throw std::out_of_range("no token has the id " + std::to_string(id));
    bytes += encoder.bytes_of(id);
  }
  return bytes;
}

}  // namespace supratok
