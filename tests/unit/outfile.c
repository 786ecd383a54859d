/* outfile.c -- an output appears whole or not at all, and no way out leaves a temporary file. */
#define _XOPEN_SOURCE 700   /* mkdtemp, symlink */
#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

static char dir[] = "/tmp/nsysx-unit.XXXXXX";

/* DIR/name, in one of a few buffers. */
static const char *
in_dir(const char *name)
{
	static char paths[4][512];
	static int next;
	char *p = paths[next++ % 4];

	snprintf(p, sizeof paths[0], "%s/%s", dir, name);
	return p;
}

static int
entries(void)
{
	DIR *d = opendir(dir);
	int n = -2;   /* . and .. */

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* The text of a small file; "" if it is not there. */
static const char *
text_of(const char *path)
{
	static char text[256];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	text[n] = '\0';
	if (f)
		fclose(f);
	return text;
}

static void
put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static int
mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int)(st.st_mode & 0777) : -1;
}

static void
commits(void)
{
	struct nsx_err err = { "" };
	const char *path = in_dir("out");
	mode_t mask = umask(027);
	struct nsx_outfile *f = nsx_outfile_open(path, &err);

	if (!ok(f != NULL, "a new file opens"))
		return;
	is_str(nsx_outfile_name(f), path, "it has the given name");
	is_int(nsx_outfile_write(f, "hello\n", 6), NSX_OK, "it takes bytes");
	ok(access(path, F_OK) != 0, "it is not there before the commit");
	is_int(entries(), 1, "a temporary file is beside it");
	is_int(nsx_outfile_commit(f), NSX_OK, "it commits");
	nsx_outfile_free(f);
	is_str(text_of(path), "hello\n", "then it is there, whole");
	is_int(entries(), 1, "and no other file");
	is_int(mode_of(path), 0640, "its mode is 0666 less the umask");
	umask(mask);

	chmod(path, 0600);
	f = nsx_outfile_open(path, &err);
	ok(f && nsx_outfile_write(f, "new\n", 4) == NSX_OK, "a file that is there opens again");
	is_str(text_of(path), "hello\n", "and keeps its bytes until the commit");
	nsx_outfile_free(f);
	is_str(text_of(path), "hello\n", "and for good without one");
	is_int(entries(), 1, "no temporary file is left");
	f = nsx_outfile_open(path, &err);
	ok(f && nsx_outfile_write(f, "new\n", 4) == NSX_OK && nsx_outfile_commit(f) == NSX_OK, "a file is replaced");
	nsx_outfile_free(f);
	is_str(text_of(path), "new\n", "with the new contents");
	is_int(mode_of(path), 0600, "and keeps its mode");
	unlink(path);
}

static void
links(void)
{
	struct nsx_err err = { "" };
	struct stat st;

	put(in_dir("real"), "old");
	if (symlink("real", in_dir("link")) != 0)
		return;
	struct nsx_outfile *f = nsx_outfile_open(in_dir("link"), &err);
	ok(f && nsx_outfile_write(f, "via", 3) == NSX_OK && nsx_outfile_commit(f) == NSX_OK, "a symbolic link is written through");
	nsx_outfile_free(f);
	is_str(text_of(in_dir("real")), "via", "the file behind it changes");
	ok(lstat(in_dir("link"), &st) == 0 && S_ISLNK(st.st_mode), "the link stays a link");
	unlink(in_dir("real"));
	/* The same through a dangling link, and a link to it: open(2) creates the file. */
	if (mkdir(in_dir("sub"), 0777) != 0 || symlink("sub/new", in_dir("empty")) != 0
	    || symlink(in_dir("empty"), in_dir("chain")) != 0 || symlink("loop", in_dir("loop")) != 0)
		return;
	f = nsx_outfile_open(in_dir("chain"), &err);
	ok(f && nsx_outfile_write(f, "made", 4) == NSX_OK && nsx_outfile_commit(f) == NSX_OK, "a link to a dangling link is followed");
	nsx_outfile_free(f);
	is_str(text_of(in_dir("sub/new")), "made", "the target is created");
	ok(lstat(in_dir("empty"), &st) == 0 && S_ISLNK(st.st_mode) && lstat(in_dir("chain"), &st) == 0 && S_ISLNK(st.st_mode),
	   "both links stay links");
	f = nsx_outfile_open(in_dir("loop"), &err);
	ok(!f && strstr(err.msg, strerror(ELOOP)), "a link to itself is refused: %s", err.msg);
	nsx_outfile_free(f);
	err.msg[0] = '\0';
	unlink(in_dir("sub/new"));
	rmdir(in_dir("sub"));
	ok(!nsx_outfile_open(in_dir("empty"), &err) && strstr(err.msg, strerror(ENOENT)), "so is one into a folder that is not there");
	ok(lstat(in_dir("empty"), &st) == 0 && S_ISLNK(st.st_mode), "the link is unchanged");
	unlink(in_dir("loop"));
	unlink(in_dir("chain"));
	unlink(in_dir("empty"));
	unlink(in_dir("link"));
}

static void
refusals(void)
{
	struct nsx_err err = { "" };
	char name[256];

	ok(!nsx_outfile_open(dir, &err) && strstr(err.msg, "directory"), "a directory is refused: %s", err.msg);
	err.msg[0] = '\0';
	ok(!nsx_outfile_open(in_dir("no/such"), &err) && strstr(err.msg, "no/such: "), "a missing directory is refused: %s", err.msg);
	memset(name, 'n', 255);
	name[255] = '\0';
	err.msg[0] = '\0';
	struct nsx_outfile *f = nsx_outfile_open(in_dir(name), &err);
	ok(f && nsx_outfile_write(f, "x", 1) == NSX_OK && nsx_outfile_commit(f) == NSX_OK, "the longest name is no trouble %s", err.msg);
	nsx_outfile_free(f);
	is_str(text_of(in_dir(name)), "x", "and is written");
	unlink(in_dir(name));

	f = nsx_outfile_open("/dev/full", &err);
	ok(f && nsx_outfile_write(f, "x", 1) == NSX_ERR && strstr(err.msg, "/dev/full: "), "a full disk is an error: %s", err.msg);
	nsx_outfile_free(f);
	ok(access("/dev/full", F_OK) == 0, "a device is written in place");
	f = nsx_outfile_open("/dev/null", &err);
	ok(f && nsx_outfile_write(f, "x", 1) == NSX_OK && nsx_outfile_commit(f) == NSX_OK, "a device commits");
	nsx_outfile_free(f);
}

/* The status of a child that opens two outputs and then meets its end by sig, or for 0 calls abandon_all. */
static int
child(int sig)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct nsx_err err = { "" };
		struct nsx_outfile *a = nsx_outfile_open(in_dir("a"), &err), *b = nsx_outfile_open(in_dir("b"), &err);
		if (!a || !b || entries() != 2)
			_exit(3);
		if (sig == 0)
			nsx_outfile_abandon_all();
		else
			raise(sig);
		nsx_outfile_free(a);
		nsx_outfile_free(b);
		_exit(4);
	}
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void
ends(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU };

	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++) {
		int status = child(sigs[i]);
		ok(WIFSIGNALED(status) && WTERMSIG(status) == sigs[i], "signal %d ends the program as that signal", sigs[i]);
		is_int(entries(), 0, "and no temporary file stays");
	}
	int status = child(0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 4, "outputs can still be abandoned");
	is_int(entries(), 0, "without temporary files");
	signal(SIGHUP, SIG_IGN);
	status = child(SIGHUP);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 4, "a signal that was ignored stays ignored");
	signal(SIGHUP, SIG_DFL);
	ok(access(in_dir("a"), F_OK) != 0, "and no file has the name");
}

static void *
open_and_drop(void *name)
{
	for (;;) {
		struct nsx_err err = { "" };
		nsx_outfile_free(nsx_outfile_open(name, &err));
	}
	return NULL;
}

/* Threads create and abandon outputs when the signal comes: no file is left in any state. */
static void
signals_among_threads(void)
{
	enum { ROUNDS = 100, THREADS = 4 };
	static char names[THREADS][512];
	int by_signal = 0, left = 0;

	for (int round = 0; round < ROUNDS; round++) {
		const struct timespec moment = { 0, 500000 + round * 7919 % 1500000 };
		pid_t pid = fork();

		if (pid == 0) {
			pthread_t t;
			for (int i = 0; i < THREADS; i++) {
				snprintf(names[i], sizeof names[i], "%s/t%d", dir, i);
				pthread_create(&t, NULL, open_and_drop, names[i]);
			}
			for (;;)
				pause();
		}
		nanosleep(&moment, NULL);
		/* Wait for the first output: before it, a signal ends the program without cleaning up. */
		while (entries() == 0)
			;
		kill(pid, SIGTERM);
		kill(pid, SIGTERM);
		int status = 0;
		waitpid(pid, &status, 0);
		by_signal += WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
		left += entries();
		while (entries() > 0) {
			DIR *d = opendir(dir);
			for (struct dirent *e; d && (e = readdir(d));)
				if (e->d_name[0] != '.' || strlen(e->d_name) > 2)
					unlink(in_dir(e->d_name));
			if (d)
				closedir(d);
		}
	}
	is_int(by_signal, ROUNDS, "a signal ends a program whose threads create and abandon outputs");
	is_int(left, 0, "and no temporary file is left");
}

/* The message of nsx_outfile_open if standard output is the file opened by `how`. */
static int
with_stdout(int how)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct nsx_err err = { "" };
		close(STDOUT_FILENO);
		if (how >= 0 && open("/dev/null", how) != STDOUT_FILENO)
			_exit(3);
		struct nsx_outfile *f = nsx_outfile_open(NULL, &err);
		if (f && nsx_outfile_write(f, "x", 1) == NSX_OK && nsx_outfile_commit(f) == NSX_OK)
			_exit(0);
		_exit(strstr(err.msg, "standard output: ") ? 1 : 4);
	}
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
temporary(void)
{
	struct nsx_err err = { "" };
	char back[3] = "";

	setenv("TMPDIR", dir, 1);
	int fd = nsx_tmpfile(&err);
	ok(fd >= 0, "a temporary file opens in TMPDIR");
	is_int(entries(), 0, "without a name");
	ok(write(fd, "ab", 2) == 2 && pread(fd, back, 2, 0) == 2 && strcmp(back, "ab") == 0, "it holds bytes");
	close(fd);
	setenv("TMPDIR", in_dir("none"), 1);
	ok(nsx_tmpfile(&err) == -1 && strstr(err.msg, "none"), "a missing TMPDIR is named: %s", err.msg);
	unsetenv("TMPDIR");
}

int
main(void)
{
	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	commits();
	links();
	refusals();
	ends();
	signals_among_threads();
	is_int(with_stdout(O_WRONLY), 0, "standard output takes bytes");
	is_int(with_stdout(O_RDONLY), 1, "a standard output that cannot be written is an error");
	is_int(with_stdout(-1), 1, "a standard output that is closed is an error");
	temporary();
	is_int(rmdir(dir), 0, "no file is left");
	return done();
}
