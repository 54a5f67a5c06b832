// Files for rows that memory has no room for.
#pragma once

#include "rows.hpp"

namespace supratok {

// A private file. One thread at a time writes; many may read.
class SpillFile {
 public:
  // Some rows of the file, sorted.
  struct Run {
    uint64_t start, end, rows;
  };
  explicit SpillFile(const std::string& folder) : file_(folder, File::Mode::kPrivate) {}

  // Writes all rows of a stream behind those that are there.
  Run write(RowStream& rows) {
    Run run{end_, end_, 0};
    RowBlock block(kBlock);
    const auto put = [&] {
      const std::string bytes = block.take();
      file_.write(bytes, run.end);
      run.end += bytes.size();
    };
    for (; rows.next(); breathe(++run.rows))
      if (block.add(rows.row().text, rows.row().count)) put();
    if (!block.empty()) put();
    end_ = run.end;  // what came to no end is written over
    return run;
  }
  static std::unique_ptr<RowStream> read(std::shared_ptr<SpillFile> file, const Run& run) {
    const auto fetch = [file, at = run.start, end = run.end](std::string& block) mutable {
      if (at == end) return false;
      file->fetch(at, kRowsHeader, block);
      const uint64_t size = kRowsHeader + uint64_t{number_at(block, 0)};
      file->fetch(at, std::min(size, end - at), block);
      at += block.size();
      return true;
    };
    return std::make_unique<RowReader>(fetch, file->file_.path());
  }

 private:
  static constexpr size_t kBlock = 1 << 16;  // small, for a merge has one of each run in memory
  void fetch(uint64_t at, size_t size, std::string& bytes) const {
    bytes.resize(size);
    if (!file_.read(bytes.data(), size, at)) throw FileError(EIO, file_.path());
  }

  File file_;
  uint64_t end_ = 0;
};

}  // namespace supratok
