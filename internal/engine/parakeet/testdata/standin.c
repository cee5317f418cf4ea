// A stand-in for parakeet.cpp's library: the functions that the recogniser calls. It hears what the samples say: the sample n/128 is the
// character n, and the values below SPACE are orders. A text or a stream that the caller has not freed makes the next stream crash.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ABI
#define ABI 10
#endif

enum { END_OF_UTTERANCE = 1, END_OF_BACKCHANNEL, CRASH, FAIL, HANG, GARBAGE, FLOOD, SPACE = 32 };

struct model { int streams; const char *error; };
struct stream { struct model *model; char word[256]; int size, start, at; };

// How many texts and streams the caller has to free.
static int texts, streams;

int parakeet_capi_abi_version(void) { return ABI; }

#ifndef OLD
struct model *parakeet_capi_load(const char *path) {
	char begin[16] = {0};
	FILE *f = fopen(path, "rb");
	if (!f) return NULL;
	size_t n = fread(begin, 1, sizeof begin - 1, f);
	fclose(f);
	puts("the library prints to the standard output");
	fflush(stdout);
	if (n < 5 || begin[4] == '?') return NULL;
	struct model *m = calloc(1, sizeof *m);
	m->streams = begin[4] == 's';
	m->error = "";
	return m;
}

void parakeet_capi_free(struct model *m) { free(m); }
const char *parakeet_capi_last_error(struct model *m) { return m ? m->error : ""; }
void parakeet_capi_free_string(char *s) { texts--; free(s); }

struct stream *parakeet_capi_stream_begin_lang(struct model *m, const char *language) {
	if (!m->streams) { m->error = "not a streaming model"; return NULL; }
	if (!strcmp(language, "xx")) { m->error = "unknown locale"; return NULL; }
	if (texts || streams++) abort();
	struct stream *s = calloc(1, sizeof *s);
	s->model = m;
	return s;
}

void parakeet_capi_stream_free(struct stream *s) { streams--; free(s); }

// close_word writes the present word, if there is one, to the list of words.
static char *close_word(struct stream *s, char *words) {
	if (s->size)
		words += sprintf(words, "%s{\"w\":\"%.*s\",\"start\":%.3f,\"end\":%.3f,\"conf\":0.9}", words[-1] == '}' ? "," : "", s->size, s->word,
			s->start / 16000.0, s->at / 16000.0);
	s->size = 0;
	return words;
}

static char *document(struct stream *s, const float *pcm, int n, int last) {
	char *text = calloc(1, n + 1), *list = calloc(1, 200 * (n + 2)), *words = list + 1, *out = malloc(201 * (n + 2) + 1024);
	char events[256] = "";
	int size = 0, eou = 0, eob = 0;
	texts++;
	list[0] = '[';
	for (int i = 0; i < n; i++, s->at++) {
		int c = (int)(pcm[i] * 128 + 0.5f);
		if (c == CRASH) abort();
		if (c == HANG) for (;;) pause();
		if (c == FAIL) { texts--; s->model->error = "no memory for the graph"; return NULL; }
		if (c == GARBAGE) return strdup("{\"text\":nan}");
		if (c == FLOOD) { char *flood = malloc(300001); memset(flood, 'x', 300000); flood[300000] = 0; return flood; }
		if (c == END_OF_UTTERANCE || c == END_OF_BACKCHANNEL) {
			sprintf(events, "{\"type\":\"%s\",\"frame\":1,\"t\":0.08}", c == END_OF_UTTERANCE ? "eou" : "eob");
			if (c == END_OF_UTTERANCE) eou = 1; else eob = 1;
		}
		if (c >= SPACE) text[size++] = c;
		if (c == SPACE) words = close_word(s, words);
		if (c > SPACE && s->size < 255) { if (!s->size) s->start = s->at; s->word[s->size++] = c; }
	}
	if (last) words = close_word(s, words);
	*words = 0;
	sprintf(out, "{\"text\":\"%s\",\"eou\":%d,\"eob\":%d,\"frame_sec\":0.080000,\"events\":[%s],\"words\":%s]}", text, eou, eob, events, list);
	free(text);
	free(list);
	return out;
}

#ifndef NO_FEED
char *parakeet_capi_stream_feed_json(struct stream *s, const float *pcm, int n) { return document(s, pcm, n, 0); }
#endif
char *parakeet_capi_stream_finalize_json(struct stream *s) { return document(s, NULL, 0, 1); }

char *parakeet_capi_transcribe_pcm_lang(struct model *m, const float *pcm, int n, int rate, int decoder, const char *language) {
	if (rate != 16000 || decoder != 0) { m->error = "wrong arguments"; return NULL; }
	char *text = calloc(1, n + strlen(language) + 4);
	texts++;
	int size = 0;
	for (int i = 0; i < n; i++) {
		int c = (int)(pcm[i] * 128 + 0.5f);
		if (c >= SPACE) text[size++] = c;
	}
	return strcat(strcat(text, " "), language);
}
#endif
