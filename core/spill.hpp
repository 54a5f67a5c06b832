// Files for rows that memory has no room for.
#pragma once

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>

#include "rows.hpp"

namespace supratok {

// The system refuses to read or write a file.
struct FileError : std::runtime_error {
  FileError(const char* verb, std::string where, const char* remedy)
      : runtime_error(std::string("cannot be ") + verb + " (" +
                      std::generic_category().message(errno) + "); " + remedy),
        code(errno), path(std::move(where)) {}
  int code;
  std::string path;
};

// A file that only this process knows: where the system allows it, its name is removed at once, so
// that nothing is left however the process ends. For one thread at a time, but for `read`.
class SpillFile {
 public:
  // Some rows of the file, sorted.
  struct Run {
    uint64_t start, end, rows;
  };
  explicit SpillFile(const std::string& folder) {
    std::random_device random;
    const auto name = std::to_string(uint64_t{random()} << 32 | random());
    path_ = (std::filesystem::path(folder) / ("supratok-" + name + ".rows")).string();
    errno = 0;
    file_.reset(std::fopen(path_.c_str(), "w+bx"));
    if (!file_) throw FileError("written", path_, "choose a folder for tables that can be");
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // blocks are large
    named_ = std::remove(path_.c_str()) != 0;
  }
  ~SpillFile() {
    file_.reset();
    if (named_) std::remove(path_.c_str());
  }

  // Writes all rows of a stream behind those that are there.
  Run write(RowStream& rows) {
    Run run{end_, end_, 0};
    RowBlock block(kBlock);
    const auto put = [&] {
      const std::string bytes = block.take();
      errno = 0;
      if (!seek(run.end) || std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
        throw FileError("written", path_, "free some room, or choose another folder for tables");
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
      file->read(at, kRowsHeader, block);
      const uint64_t size = kRowsHeader + uint64_t{number_at(block, 0)};
      file->read(at, std::min(size, end - at), block);
      at += block.size();
      return true;
    };
    return std::make_unique<RowReader>(fetch, file->path_);
  }

 private:
  static constexpr size_t kBlock = 1 << 16;  // small, for a merge has one of each run in memory
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  bool seek(uint64_t at) {
#ifdef _WIN32
    return _fseeki64(file_.get(), static_cast<int64_t>(at), SEEK_SET) == 0;
#else
    return std::fseek(file_.get(), static_cast<long>(at), SEEK_SET) == 0;
#endif
  }
  void read(uint64_t at, size_t size, std::string& bytes) {
    const std::lock_guard guard(lock_);
    bytes.resize(size);
    errno = 0;
    if (!seek(at) || std::fread(bytes.data(), 1, size, file_.get()) != size)
      throw FileError("read", path_, "see whether the disk is sound");
  }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  bool named_ = false;
  uint64_t end_ = 0;
  std::mutex lock_;
};

}  // namespace supratok
