// What a patch after each character costs, beside `encode` of the same text: no Python in between.
//
//     stream VOCABULARY DOCUMENTS      (both written by stream.py, which also compiles this)
//
// For each portion of documents it encodes them, then feeds each to a stream of its own, character
// by character. It prints a line a portion: bytes, and nanoseconds of the processor for both. It
// ends with status 1 where the ids differ.
#include <ctime>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "text_stream.hpp"

namespace {

using namespace supratok;

constexpr size_t kPortion = 225;  // documents: a line for about half a megabyte

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
  size_t differing = 0;
  while (documents.more()) {
    Texts texts;
    while (documents.more() && texts.size() < kPortion) texts.push_back(documents.text());
    size_t bytes = 0;
    for (const std::string_view text : texts) bytes += text.size();
    std::vector<Numbers> wanted(texts.size());
    const uint64_t start = nanoseconds();
    for (size_t i = 0; i < texts.size(); ++i) encoder.encode(texts[i], wanted[i]);
    const uint64_t middle = nanoseconds();
    for (size_t i = 0; i < texts.size(); ++i) {
      TextStream stream(boundaries);
      feed(stream, texts[i]);
      const auto ids = stream.ids();
      differing += !std::equal(ids.begin(), ids.end(), wanted[i].begin(), wanted[i].end());
    }
    const uint64_t end = nanoseconds();
    std::printf("%zu %llu %llu\n", bytes, static_cast<unsigned long long>(middle - start),
                static_cast<unsigned long long>(end - middle));
  }
  if (differing) std::fprintf(stderr, "%zu documents differ\n", differing);
  return differing != 0;
}
