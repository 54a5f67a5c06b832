// What a patch after each character costs, beside `encode` of the same text: no Python in between.
//
//     stream VOCABULARY DOCUMENTS      (both written by stream.py, which also compiles this)
//
// It encodes all documents, then feeds each to a stream of its own, character by character. (By
// turns the two would take the caches from each other, and `encode` would lose more by that.) It
// prints a line for each portion of documents: bytes, and nanoseconds of the processor for both. It
// ends with status 1 where the ids differ.
#include <ctime>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "text_stream.hpp"

namespace {

using namespace supratok;

constexpr size_t kPortion = 225;  // documents: a line for about half a megabyte
struct Portion {
  Texts texts;
  std::vector<Numbers> ids;
  size_t bytes = 0;
  uint64_t encode = 0;  // nanoseconds
};

// Numbers and texts, one after the other, as stream.py packs them.
class Packed {
 public:
  explicit Packed(const char* path) {
    std::ifstream file(path, std::ios::binary);
    data_.assign(std::istreambuf_iterator<char>(file), {});
  }
  bool more() const { return at_ < data_.size(); }
  uint64_t number() {
    uint64_t value = 0;
    for (int b = 0; b < 8; ++b)
      value |= uint64_t{static_cast<unsigned char>(data_.at(at_++))} << 8 * b;
    return value;
  }
  std::string_view text() {
    const size_t size = number();
    if (size > data_.size() - at_) throw std::runtime_error("the file is cut short");
    return {&data_[std::exchange(at_, at_ + size)], size};
  }

 private:
  std::string data_;
  size_t at_ = 0;
};

uint64_t nanoseconds() {  // of this thread on the processor
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

void feed(TextStream& stream, std::string_view text) {
  for (size_t at = 0, size; at < text.size(); at += size) {
    size = char_bytes(text[at]);
    stream.append(text.substr(at, size));
  }
}

}  // namespace

int main(int, char** paths) {
  Packed vocabulary(paths[1]), documents(paths[2]);
  const bool fewest = vocabulary.number();
  std::vector<std::string> entries;
  Counts weights;
  while (vocabulary.more()) {
    weights.push_back(static_cast<int64_t>(vocabulary.number()));
    entries.emplace_back(vocabulary.text());
  }
  const Encoder encoder(std::move(entries), weights, fewest, 0, {}, {});
  const Boundaries boundaries(encoder, {}, {});
  std::vector<Portion> portions;
  while (documents.more()) {
    Portion& one = portions.emplace_back();
    while (documents.more() && one.texts.size() < kPortion) one.texts.push_back(documents.text());
    for (const std::string_view text : one.texts) one.bytes += text.size();
    one.ids.resize(one.texts.size());
  }
  for (Portion& one : portions) {
    const uint64_t start = nanoseconds();
    for (size_t i = 0; i < one.texts.size(); ++i) encoder.encode(one.texts[i], one.ids[i]);
    one.encode = nanoseconds() - start;
  }
  size_t differing = 0;
  for (const Portion& one : portions) {
    const uint64_t start = nanoseconds();
    for (size_t i = 0; i < one.texts.size(); ++i) {
      TextStream stream(boundaries);
      feed(stream, one.texts[i]);
      const auto ids = stream.ids();
      differing += !std::equal(ids.begin(), ids.end(), one.ids[i].begin(), one.ids[i].end());
    }
    std::printf("%zu %llu %llu\n", one.bytes, static_cast<unsigned long long>(one.encode),
                static_cast<unsigned long long>(nanoseconds() - start));
  }
  if (differing) std::fprintf(stderr, "%zu documents differ\n", differing);
  return differing != 0;
}
