/* Stand between a process and the C library, for every call that changes or syncs a file below one
 * folder. Loaded by LD_PRELOAD; idle until `shim_arm`. It counts these calls and can kill the
 * process before, in the middle of or after one of them, fail them with an errno, pause at one, and
 * append each to a log with the bytes that were written. `libc_shim.py` is its other half.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The numbers are known to libc_shim.py. */
enum kind { CREATE, WRITE, TRUNCATE, SYNC, RENAME, EXCHANGE, LINK, UNLINK, MKDIR, RMDIR, NOTE, SYNC_ALL };
enum action { NOTHING, KILL_BEFORE, KILL_AFTER, TEAR, FAIL, HALVE, PAUSE };
enum { RULES = 4, PATH_ROOM = 2 * PATH_MAX };

struct rule {
    int action;
    int error;          /* the errno of FAIL */
    unsigned kinds;     /* a bit for each kind it is about */
    int64_t first, last; /* the numbers of the calls it is about, from 1 */
};

struct call {
    enum kind kind;
    enum action action;
    int descriptor; /* of WRITE, TRUNCATE and SYNC, else -1 */
    char path[PATH_ROOM], other[PATH_ROOM];
};

/* A record of the log; the two paths and the data follow it. */
struct head {
    int32_t kind, error;
    uint64_t file; /* number of the inode after the call, 0 if unknown */
    int64_t offset, size;
    uint32_t path, other;
};

static char root[PATH_MAX];
static size_t root_size;
static struct rule rules[RULES];
static int64_t counted;
static int log_descriptor = -1, tell_descriptor = -1, wait_descriptor = -1;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

#define REAL(name)                                            \
    ({                                                        \
        static __typeof__(&name) found;                       \
        if (!found)                                           \
            *(void **)&found = dlsym(RTLD_NEXT, #name);       \
        found;                                                \
    })

/* ── the control, called through ctypes ───────────────────────────────────────────────────────── */

/* Begin to count the calls below a folder, given by its real path; `NULL` ends it. */
void shim_arm(const char *folder, const struct rule *given, int count, int log, int tell, int wait)
{
    pthread_mutex_lock(&lock);
    root_size = folder ? strlen(folder) : 0;
    memcpy(root, folder ? folder : "", root_size + 1);
    memset(rules, 0, sizeof rules);
    if (count)
        memcpy(rules, given, (size_t)count * sizeof *rules);
    counted = 0;
    log_descriptor = log;
    tell_descriptor = tell;
    wait_descriptor = wait;
    pthread_mutex_unlock(&lock);
}

static void write_record(struct call *call, struct head head, const void *data)
{
    head.kind = (int32_t)call->kind;
    head.path = (uint32_t)strlen(call->path);
    head.other = (uint32_t)strlen(call->other);
    struct iovec parts[] = {
        {&head, sizeof head},
        {call->path, head.path},
        {call->other, head.other},
        {(void *)data, data ? (size_t)head.size : 0},
    };
    if (REAL(writev)(log_descriptor, parts, 4) < 0)
        abort();
}

/* Put a line of the test into the log, between the calls before and after it. */
void shim_note(const char *text)
{
    struct call call = {.kind = NOTE, .descriptor = -1};
    pthread_mutex_lock(&lock);
    if (log_descriptor >= 0)
        write_record(&call, (struct head){.size = (int64_t)strlen(text)}, text);
    pthread_mutex_unlock(&lock);
}

/* ── before and after a call ──────────────────────────────────────────────────────────────────── */

static int is_below(const char *path)
{
    return !strncmp(path, root, root_size) && (path[root_size] == '/' || !path[root_size]);
}

/* Put the path of an open file into `into`; return whether it is below the root. */
static int find_open(char *into, int descriptor)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, into, PATH_MAX - 1);
    into[size < 0 ? 0 : size] = 0;
    return size > 0 && is_below(into);
}

/* Put the whole path of a name into `into`; return whether it is below the root. */
static int find_named(char *into, int folder, const char *path)
{
    into[0] = 0;
    if (path[0] != '/') {
        if (folder == AT_FDCWD ? !getcwd(into, PATH_MAX) : (find_open(into, folder), !into[0]))
            return 0;
        strcat(into, "/");
    }
    strncat(into, path, PATH_MAX - 1);
    return is_below(into);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

static void wait_for_test(void)
{
    char byte = 0;
    if (REAL(write)(tell_descriptor, &byte, 1) != 1 || read(wait_descriptor, &byte, 1) != 1)
        die();
}

/* Count a call and do what the rules say before it; the caller finishes it by `end`. */
static void begin(struct call *call, enum kind kind)
{
    call->kind = kind;
    call->action = NOTHING;
    pthread_mutex_lock(&lock);
    counted++;
    for (int number = 0; number < RULES; number++) {
        struct rule *rule = &rules[number];
        if (counted < rule->first || counted > rule->last || !(rule->kinds >> kind & 1))
            continue;
        if (rule->action == KILL_BEFORE)
            die();
        if (rule->action == PAUSE) {
            wait_for_test();
            continue;
        }
        call->action = rule->action;
        if (rule->action == FAIL)
            errno = rule->error;
    }
}

/* Return how many bytes a write is to write: all, or half. */
static size_t share(struct call *call, size_t size)
{
    return call->action == TEAR || call->action == HALVE ? (size + 1) / 2 : size;
}

static void record(struct call *call, int64_t result, int64_t offset)
{
    struct head head = {.error = result < 0 ? errno : 0, .offset = offset};
    struct stat status;
    char link[64], *data = NULL;
    if (call->descriptor >= 0 ? !fstat(call->descriptor, &status) : !lstat(call->path, &status))
        head.file = status.st_ino;
    if (call->kind == WRITE && result > 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", call->descriptor);
        data = malloc((size_t)result);
        head.size = pread(call->descriptor, data, (size_t)result, offset);
        if (head.size < 0) { /* open for writing alone */
            int reading = REAL(open)(link, O_RDONLY | O_CLOEXEC);
            head.size = pread(reading, data, (size_t)result, offset);
            close(reading);
        }
        if (head.size != result)
            abort();
    }
    write_record(call, head, data);
    free(data);
}

/* Finish a call: `offset` is where a write began, or the new size of a truncated file. */
static int64_t end(struct call *call, int64_t result, int64_t offset)
{
    int error = errno;
    if (log_descriptor >= 0)
        record(call, result, offset);
    if (call->action == KILL_AFTER || call->action == TEAR)
        die();
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

static int is_of(struct call *call, int descriptor)
{
    call->descriptor = descriptor;
    call->other[0] = 0;
    return root_size && find_open(call->path, descriptor);
}

static int is_named(struct call *call, int folder, const char *path)
{
    call->descriptor = -1;
    call->other[0] = 0;
    return root_size && find_named(call->path, folder, path);
}

/* Is either of two names below the root? */
static int are_named(struct call *call, int from, const char *old, int to, const char *new)
{
    if (!root_size)
        return 0;
    call->descriptor = -1;
    int is_old = find_named(call->path, from, old), is_new = find_named(call->other, to, new);
    return is_old || is_new;
}

#define REFUSED (call.action == FAIL)
#define GUARD(is_ours, kind, offset, deed)                          \
    struct call call = {.action = NOTHING};                         \
    if (!(is_ours))                                                 \
        return deed;                                                \
    begin(&call, kind);                                             \
    return (__typeof__(deed))end(&call, REFUSED ? -1 : deed, offset)

/* ── writing ──────────────────────────────────────────────────────────────────────────────────── */

/* Finish a write that moved the file's own position. */
static ssize_t end_moved(struct call *call, ssize_t result, int descriptor)
{
    int error = errno;
    int64_t after = lseek(descriptor, 0, SEEK_CUR);
    errno = error;
    return end(call, result, after - (result > 0 ? result : 0));
}

ssize_t write(int descriptor, const void *data, size_t size)
{
    struct call call;
    if (!is_of(&call, descriptor))
        return REAL(write)(descriptor, data, size);
    begin(&call, WRITE);
    ssize_t result = REFUSED ? -1 : REAL(write)(descriptor, data, share(&call, size));
    return end_moved(&call, result, descriptor);
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    GUARD(is_of(&call, descriptor), WRITE, offset,
          REAL(pwrite)(descriptor, data, share(&call, size), offset));
}
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));

/* Write some parts as one block, at the file's own position if `offset` is negative. */
static ssize_t write_joined(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    size_t size = 0, done = 0;
    for (int number = 0; number < count; number++)
        size += parts[number].iov_len;
    char *data = malloc(size + 1);
    for (int number = 0; number < count; done += parts[number++].iov_len)
        memcpy(data + done, parts[number].iov_base, parts[number].iov_len);
    ssize_t result = offset < 0 ? write(descriptor, data, size)
                                : pwrite(descriptor, data, size, offset);
    free(data);
    return result;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    struct call call;
    return is_of(&call, descriptor) ? write_joined(descriptor, parts, count, -1)
                                    : REAL(writev)(descriptor, parts, count);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    struct call call;
    return is_of(&call, descriptor) ? write_joined(descriptor, parts, count, offset)
                                    : REAL(pwritev)(descriptor, parts, count, offset);
}
ssize_t pwritev64(int, const struct iovec *, int, off_t) __attribute__((alias("pwritev")));

ssize_t pwritev2(int descriptor, const struct iovec *parts, int count, off_t offset, int flags)
{
    struct call call;
    return is_of(&call, descriptor) ? write_joined(descriptor, parts, count, offset)
                                    : REAL(pwritev2)(descriptor, parts, count, offset, flags);
}
ssize_t pwritev64v2(int, const struct iovec *, int, off_t, int) __attribute__((alias("pwritev2")));

ssize_t sendfile(int to, int from, off_t *offset, size_t size)
{
    struct call call;
    if (!is_of(&call, to))
        return REAL(sendfile)(to, from, offset, size);
    begin(&call, WRITE);
    size = share(&call, size);
    return end_moved(&call, REFUSED ? -1 : REAL(sendfile)(to, from, offset, size), to);
}
ssize_t sendfile64(int, int, off_t *, size_t) __attribute__((alias("sendfile")));

ssize_t copy_file_range(int from, off_t *begins, int to, off_t *offset, size_t size, unsigned flags)
{
    struct call call;
    if (!is_of(&call, to))
        return REAL(copy_file_range)(from, begins, to, offset, size, flags);
    begin(&call, WRITE);
    size = share(&call, size);
    int64_t start = offset ? *offset : lseek(to, 0, SEEK_CUR);
    ssize_t result = REFUSED ? -1 : REAL(copy_file_range)(from, begins, to, offset, size, flags);
    return end(&call, result, start);
}

/* ── sizes and syncs ──────────────────────────────────────────────────────────────────────────── */

int ftruncate(int descriptor, off_t size)
{
    GUARD(is_of(&call, descriptor), TRUNCATE, size, REAL(ftruncate)(descriptor, size));
}
int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));

int truncate(const char *path, off_t size)
{
    GUARD(is_named(&call, AT_FDCWD, path), TRUNCATE, size, REAL(truncate)(path, size));
}
int truncate64(const char *, off_t) __attribute__((alias("truncate")));

int fallocate(int descriptor, int mode, off_t offset, off_t size)
{
    struct call call;
    if (!is_of(&call, descriptor))
        return REAL(fallocate)(descriptor, mode, offset, size);
    begin(&call, TRUNCATE);
    int result = REFUSED ? -1 : REAL(fallocate)(descriptor, mode, offset, size), error = errno;
    struct stat status = {0};
    fstat(descriptor, &status);
    errno = error;
    return (int)end(&call, result, status.st_size);
}
int fallocate64(int, int, off_t, off_t) __attribute__((alias("fallocate")));

int posix_fallocate(int descriptor, off_t offset, off_t size)
{
    struct call call;
    if (!is_of(&call, descriptor))
        return REAL(posix_fallocate)(descriptor, offset, size);
    return fallocate(descriptor, 0, offset, size) ? errno : 0;
}
int posix_fallocate64(int, off_t, off_t) __attribute__((alias("posix_fallocate")));

int fsync(int descriptor)
{
    GUARD(is_of(&call, descriptor), SYNC, 0, REAL(fsync)(descriptor));
}

int fdatasync(int descriptor)
{
    GUARD(is_of(&call, descriptor), SYNC, 0, REAL(fdatasync)(descriptor));
}

/* Everything is synced; nothing can fail. */
void sync(void)
{
    struct call call = {.descriptor = -1};
    if (!root_size) {
        REAL(sync)();
        return;
    }
    strcpy(call.path, root);
    begin(&call, SYNC_ALL);
    REAL(sync)();
    end(&call, 0, 0);
}

int syncfs(int descriptor)
{
    GUARD(is_of(&call, descriptor), SYNC_ALL, 0, REAL(syncfs)(descriptor));
}

/* ── names ────────────────────────────────────────────────────────────────────────────────────── */

static int opened(int folder, const char *path, int flags, mode_t mode)
{
    struct call call;
    struct stat status;
    if (!(flags & (O_CREAT | O_TRUNC)) || !is_named(&call, folder, path))
        return REAL(openat)(folder, path, flags, mode);
    int is_new = fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) != 0;
    if (is_new ? !(flags & O_CREAT) : !(flags & O_TRUNC) || (flags & O_EXCL) || !status.st_size)
        return REAL(openat)(folder, path, flags, mode);
    begin(&call, is_new ? CREATE : TRUNCATE);
    return (int)end(&call, REFUSED ? -1 : REAL(openat)(folder, path, flags, mode), 0);
}

#define OPEN(name, before, folder)                                              \
    int name(before const char *path, int flags, ...)                           \
    {                                                                           \
        va_list more;                                                           \
        va_start(more, flags);                                                  \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more);                                                           \
        return opened(folder, path, flags, mode);                               \
    }
#define FOLDER int folder,
OPEN(open, , AT_FDCWD)
OPEN(open64, , AT_FDCWD)
OPEN(openat, FOLDER, folder)
OPEN(openat64, FOLDER, folder)

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    GUARD(are_named(&call, from, old, to, new), flags & RENAME_EXCHANGE ? EXCHANGE : RENAME, 0,
          REAL(renameat2)(from, old, to, new, flags));
}

int renameat(int from, const char *old, int to, const char *new)
{
    GUARD(are_named(&call, from, old, to, new), RENAME, 0, REAL(renameat)(from, old, to, new));
}

int rename(const char *old, const char *new)
{
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    GUARD(are_named(&call, from, old, to, new), LINK, 0, REAL(linkat)(from, old, to, new, flags));
}

int link(const char *old, const char *new)
{
    return linkat(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlinkat(int folder, const char *path, int flags)
{
    GUARD(is_named(&call, folder, path), flags & AT_REMOVEDIR ? RMDIR : UNLINK, 0,
          REAL(unlinkat)(folder, path, flags));
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    GUARD(is_named(&call, folder, path), MKDIR, 0, REAL(mkdirat)(folder, path, mode));
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

/* Python and SQLite call the functions above; whoever calls the kernel by number renames by it. */
long syscall(long number, ...)
{
    va_list more;
    va_start(more, number);
    long a[6];
    for (int at = 0; at < 6; at++)
        a[at] = va_arg(more, long);
    va_end(more);
    if (number == SYS_renameat2)
        return renameat2((int)a[0], (const char *)a[1], (int)a[2], (const char *)a[3], (unsigned)a[4]);
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
