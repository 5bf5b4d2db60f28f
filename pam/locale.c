// gettext's catalogues, read here and not by the C library's gettext: that one takes the language from the program's
// locale, which most login programs never set, finds none whose locale was not generated, has LANGUAGE and OUTPUT_CHARSET
// decide in set-user-ID programs too, takes locks that a fork may have left taken, and keeps what it read in the program
// for ever. Here nothing of the program's changes and nothing stays. The environment selects a name, no more: what comes
// of it is one folder's name below a fixed one.

#include "locale.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef WHORL_LOCALE_FOLDER
#define WHORL_LOCALE_FOLDER "/usr/share/locale"
#endif

enum { NAME_SIZE = 64, LIST_SIZE = 256, SETTINGS_LIMIT = 8192, CATALOGUE_LIMIT = 65536, TEXTS_LIMIT = 1000 };

// What the variables say; "" where they say nothing.
struct names {
  char all[NAME_SIZE];
  char ctype[NAME_SIZE];
  char messages[NAME_SIZE];
  char lang[NAME_SIZE];
  char languages[LIST_SIZE];
};

// MARK: Files

// A whole file of root's that nobody else can write, with a NUL after it; NULL where it is anything else, empty or longer
// than `limit`. Read, not mapped: a file that is written anew at that moment must not end the program. Links are followed
// (NixOS has them in /etc): only root can have put them there.
static unsigned char *read_file(const char *path, size_t limit, size_t *size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) {
    return NULL;
  }
  struct stat status;
  unsigned char *bytes = NULL;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == 0 &&
      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 && status.st_size > 0 && (size_t)status.st_size <= limit) {
    bytes = malloc((size_t)status.st_size + 1);
  }
  size_t done = 0;
  while (bytes != NULL && done < (size_t)status.st_size) {
    const ssize_t got = read(file, bytes + done, (size_t)status.st_size - done);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      free(bytes);
      bytes = NULL;
    }
    done += got > 0 ? (size_t)got : 0;
  }
  (void)close(file);
  if (bytes != NULL) {
    bytes[done] = '\0';
    *size = done;
  }
  return bytes;
}

// MARK: Names

// isalnum depends on the program's locale.
static bool is_name_byte(char byte, bool is_list) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
         byte == '.' || byte == '@' || byte == '-' || (is_list && byte == ':');
}

// Keeps a name. One that can be no locale's is kept as "C": somebody meant something by it, but not this system's default.
static void keep(char *field, size_t size, const char *value, size_t length) {
  const bool is_list = size == LIST_SIZE;
  bool is_good = length < size;
  for (size_t i = 0; is_good && i < length; i++) {
    is_good = is_name_byte(value[i], is_list);
  }
  if (!is_good) {
    value = "C";
    length = 1;
  }
  memcpy(field, value, length);
  field[length] = '\0';
}

static void keep_variable(char *field, size_t size, const char *name) {
  // Other threads that change the environment harm whoever reads it, and no program can be kept from that.
  const char *const value = getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (value != NULL) {
    keep(field, size, value, strnlen(value, size));
  }
}

// One line of a file of NAME=VALUE, with or without quotes.
static void keep_line(struct names *names, const char *line, size_t length) {
  static const struct {
    const char *key;
    size_t offset, size;
  } fields[] = {{"LANG=", offsetof(struct names, lang), NAME_SIZE},
                {"LC_CTYPE=", offsetof(struct names, ctype), NAME_SIZE},
                {"LC_MESSAGES=", offsetof(struct names, messages), NAME_SIZE},
                {"LANGUAGE=", offsetof(struct names, languages), LIST_SIZE}};
  while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r')) {
    length--;
  }
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    const size_t key = strlen(fields[i].key);
    if (length < key || strncmp(line, fields[i].key, key) != 0) {
      continue;
    }
    const char *value = line + key;
    length -= key;
    if (length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0]) {
      value++;
      length -= 2;
    }
    keep((char *)names + fields[i].offset, fields[i].size, value, length);
    return;
  }
}

static bool keep_settings(struct names *names, const char *path) {
  size_t size = 0;
  unsigned char *const bytes = read_file(path, SETTINGS_LIMIT, &size);
  if (bytes == NULL) {
    return false;
  }
  const char *line = (const char *)bytes;
  while (*line != '\0') {
    const size_t length = strcspn(line, "\n");
    keep_line(names, line, length);
    line += length + (line[length] == '\n' ? 1 : 0);
  }
  free(bytes);
  return names->lang[0] != '\0' || names->messages[0] != '\0';
}

// The environment's; the system's where that names no language at all, as in greeters and in polkit's helper.
static void find_names(struct names *names) {
  memset(names, 0, sizeof *names);
  keep_variable(names->all, sizeof names->all, "LC_ALL");
  keep_variable(names->ctype, sizeof names->ctype, "LC_CTYPE");
  keep_variable(names->messages, sizeof names->messages, "LC_MESSAGES");
  keep_variable(names->lang, sizeof names->lang, "LANG");
  keep_variable(names->languages, sizeof names->languages, "LANGUAGE");
  if (names->all[0] == '\0' && names->messages[0] == '\0' && names->lang[0] == '\0') {
    static const char *const files[] = {"/etc/locale.conf", "/etc/default/locale"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
      memset(names, 0, sizeof *names);
      if (keep_settings(names, files[i])) {
        return;
      }
    }
  }
}

static const char *first_of(const char *first, const char *second, const char *third) {
  return first[0] != '\0' ? first : second[0] != '\0' ? second : third;
}

// Whether that locale writes in UTF-8. In any other charset our texts would be garbage, but for the English ones.
static bool is_utf8(const char *locale) {
  const char *const dot = strchr(locale, '.');
  const char *const charset = dot == NULL ? locale : dot + 1;
  const size_t length = strcspn(charset, "@");
  return (length == 5 && strncasecmp(charset, "UTF-8", length) == 0) ||
         (length == 4 && strncasecmp(charset, "UTF8", length) == 0);
}

// MARK: Catalogues

// A number of the catalogue, which our Makefile has written with the low byte first.
static uint32_t number_at(const struct whorl_catalogue *catalogue, size_t offset) {
  uint32_t number = 0;
  memcpy(&number, catalogue->bytes + offset, sizeof number);
  return le32toh(number);
}

// The text whose length and place stand there; NULL where it is not wholly in the catalogue, or not ended by a NUL.
static const char *text_at(const struct whorl_catalogue *catalogue, size_t offset, size_t *length) {
  *length = number_at(catalogue, offset);
  const size_t start = number_at(catalogue, offset + 4);
  if (*length >= catalogue->size || start >= catalogue->size - *length ||
      catalogue->bytes[start + *length] != '\0') {
    return NULL;
  }
  return (const char *)catalogue->bytes + start;
}

enum { MAGIC = 0x950412de, HEADER_SIZE = 28, ENTRY_SIZE = 8 };

// Whether it is a catalogue whose two tables lie in it; each text is looked at when it is wanted.
static bool is_catalogue(const struct whorl_catalogue *catalogue) {
  if (catalogue->size < HEADER_SIZE || number_at(catalogue, 0) != (uint32_t)MAGIC ||
      number_at(catalogue, 4) >> 16U != 0) {
    return false;
  }
  const size_t count = number_at(catalogue, 8);
  const size_t keys = number_at(catalogue, 12);
  const size_t texts = number_at(catalogue, 16);
  return count <= TEXTS_LIMIT && count * ENTRY_SIZE <= catalogue->size &&
         keys <= catalogue->size - count * ENTRY_SIZE && texts <= catalogue->size - count * ENTRY_SIZE;
}

// Opens the catalogue in that folder. False: there is none.
static bool open_catalogue(struct whorl_catalogue *catalogue, const char *folder) {
  char path[sizeof WHORL_LOCALE_FOLDER + NAME_SIZE + sizeof "//LC_MESSAGES/whorl.mo"];
  (void)snprintf(path, sizeof path, "%s/%s/LC_MESSAGES/whorl.mo", WHORL_LOCALE_FOLDER, folder);
  catalogue->bytes = read_file(path, CATALOGUE_LIMIT, &catalogue->size);
  if (catalogue->bytes != NULL && !is_catalogue(catalogue)) {
    whorl_close_catalogue(catalogue);
  }
  return catalogue->bytes != NULL;
}

// Whether the language in a locale's name is that one.
static bool is_language(const char *locale, const char *language) {
  const size_t length = strcspn(locale, "_.@");
  return length == strlen(language) && strncmp(locale, language, length) == 0;
}

static bool is_untranslated(const char *locale) { return is_language(locale, "C") || is_language(locale, "POSIX"); }

// Opens the catalogue for a locale's name, such as de_AT.UTF-8@euro: that of de_AT@euro, de_AT, de@euro or de. True where
// that is settled, also by English, which needs none.
static bool open_for(struct whorl_catalogue *catalogue, const char *name, size_t length) {
  char locale[NAME_SIZE];
  if (length >= sizeof locale) {
    return false;
  }
  memcpy(locale, name, length);
  locale[length] = '\0';
  const char *const modifier = strchr(locale, '@') == NULL ? "" : strchr(locale, '@');
  const size_t whole = strcspn(locale, ".@");
  const size_t language = strcspn(locale, "_.@");
  if (language == 0) {
    return false;
  }
  if (is_language(locale, "en") || is_untranslated(locale)) {
    return true;
  }
  for (int attempt = 0; attempt < 4; attempt++) {
    char folder[NAME_SIZE];
    const bool with_modifier = attempt % 2 == 0;
    const size_t part = attempt < 2 ? whole : language;
    if ((with_modifier && modifier[0] == '\0') || (attempt >= 2 && whole == language)) {
      continue;
    }
    (void)snprintf(folder, sizeof folder, "%.*s%s", (int)part, locale, with_modifier ? modifier : "");
    if (open_catalogue(catalogue, folder)) {
      return true;
    }
  }
  return false;
}

static void look_for(struct whorl_catalogue *catalogue) {
  struct names names;
  find_names(&names);
  const char *const locale = first_of(names.all, names.messages, names.lang);
  if (locale[0] == '\0' || is_untranslated(locale) || !is_utf8(first_of(names.all, names.ctype, names.lang))) {
    return;
  }
  if (names.languages[0] == '\0') {
    (void)open_for(catalogue, locale, strlen(locale));
    return;
  }
  // As with gettext, a list of languages goes before the locale's.
  const char *part = names.languages;
  while (*part != '\0') {
    const size_t length = strcspn(part, ":");
    if (length > 0 && open_for(catalogue, part, length)) {
      return;
    }
    part += length + (part[length] == ':' ? 1 : 0);
  }
}

// Whether `key` is that text, after its context where it has one.
static bool is_key(const char *key, size_t length, const char *context, const char *text) {
  const size_t before = context == NULL ? 0 : strlen(context) + 1;
  if (length != before + strlen(text)) {
    return false;
  }
  return (before == 0 || (memcmp(key, context, before - 1) == 0 && key[before - 1] == '\4')) &&
         memcmp(key + before, text, length - before) == 0;
}

const char *whorl_translate(void *handle, const char *context, const char *text) {
  struct whorl_catalogue *const catalogue = handle;
  if (!catalogue->was_looked_for) {
    catalogue->was_looked_for = true;
    look_for(catalogue);
  }
  if (catalogue->bytes == NULL) {
    return NULL;
  }
  const size_t count = number_at(catalogue, 8);
  for (size_t i = 0; i < count; i++) {
    size_t length = 0;
    const char *const key = text_at(catalogue, number_at(catalogue, 12) + i * ENTRY_SIZE, &length);
    if (key != NULL && is_key(key, length, context, text)) {
      return text_at(catalogue, number_at(catalogue, 16) + i * ENTRY_SIZE, &length);
    }
  }
  return NULL;
}

void whorl_close_catalogue(struct whorl_catalogue *catalogue) {
  free(catalogue->bytes);
  catalogue->bytes = NULL;
  catalogue->size = 0;
}
