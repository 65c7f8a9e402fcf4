/* SPDX-License-Identifier: MIT */
/*
 * Reads a file with FFmpeg's libraries while it is being downloaded.  The
 * program passes the bytes through an AVIO context, and counts the packets
 * instead of decoding them.
 *
 *     ffmpeg URL-OR-MANIFEST [SECONDS]    start at that time of the film
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <libavformat/avformat.h>
#include <xdownload/xdownload.h>

#define BUFFER (32 * 1024)

/* Interval in milliseconds at which reads check for Ctrl-C.  FFmpeg calls
 * AVFormatContext.interrupt_callback only in its own protocols, so the read
 * callback must check by itself. */
#define LOOK_MS 100

static volatile sig_atomic_t is_over;

static void end(int sig)
{
    (void)sig;
    is_over = 1;
}

/* Converts a result of the library to a result for FFmpeg. */
static int64_t code_of(int64_t n)
{
    if (n == XD_E_AGAIN || n == XD_E_CANCELED)
        return AVERROR_EXIT;
    return n < 0 ? AVERROR(EIO) : n;
}

static int read_packet(void *r, uint8_t *buf, int len)
{
    int64_t n;

    do
        n = xd_reader_read(r, buf, (size_t)len, LOOK_MS);
    while (n == XD_E_AGAIN && !is_over);
    /* AVIO treats 0 as "try again" */
    return n == 0 ? AVERROR_EOF : (int)code_of(n);
}

static int64_t seek(void *r, int64_t to, int whence)
{
    int64_t n;

    switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
        do
            n = xd_reader_size(r, LOOK_MS);
        while (n == XD_E_AGAIN && !is_over);
        return code_of(n);
    case SEEK_SET:
        return code_of(xd_reader_seek(r, (uint64_t)to));
    default:
        return AVERROR(EINVAL); /* AVIO never passes SEEK_CUR or SEEK_END */
    }
}

/* Counts the packets up to the end, starting at `from_s` seconds. */
static int count(AVFormatContext *f, double from_s)
{
    unsigned long n = 0;
    double last_s = 0;
    AVPacket *packet = av_packet_alloc();
    int rc = packet ? avformat_find_stream_info(f, NULL) : AVERROR(ENOMEM);

    if (rc >= 0 && from_s > 0)
        rc = av_seek_frame(f, -1, (int64_t)(from_s * AV_TIME_BASE),
                           AVSEEK_FLAG_BACKWARD);
    while (rc >= 0 && (rc = av_read_frame(f, packet)) >= 0) {
        const AVRational base = f->streams[packet->stream_index]->time_base;
        if (packet->pts != AV_NOPTS_VALUE)
            last_s = (double)packet->pts * av_q2d(base);
        n++;
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    printf("%u streams, %lu packets, the last at %.1f s\n", f->nb_streams, n,
           last_s);
    return rc == AVERROR_EOF ? 0 : rc;
}

static int demux(struct xd_reader *r, double from_s)
{
    int rc = AVERROR(ENOMEM);
    unsigned char *buffer = av_malloc(BUFFER);
    AVFormatContext *f = avformat_alloc_context();
    AVIOContext *io =
        avio_alloc_context(buffer, BUFFER, 0, r, read_packet, NULL, seek);

    if (!io)
        av_free(buffer);
    if (buffer && f && io) {
        f->pb = io;
        rc = avformat_open_input(&f, NULL, NULL, NULL); /* frees f on failure */
        if (rc >= 0)
            rc = count(f, from_s);
    }
    avformat_close_input(&f);
    if (io)
        av_freep(&io->buffer); /* FFmpeg may have replaced the buffer */
    avio_context_free(&io);
    return rc;
}

int main(int argc, char **argv)
{
    struct xd_manifest *m;
    struct xd_source *s = NULL;
    struct xd_reader *r = NULL;
    struct xd_error err;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: ffmpeg URL-OR-MANIFEST [SECONDS]\n");
        return 2;
    }
    signal(SIGINT, end);
    const char *source = argv[1];
    int rc = xd_manifest_open(&m, &source, 1, NULL, &err);
    if (rc == 0) {
        rc = xd_source_new(&s, m, 0, NULL, &err);
        xd_manifest_unref(m);
    }
    if (rc == 0)
        rc = xd_reader_new(&r, s, &err);
    if (rc == 0) {
        rc = demux(r, argc > 2 ? atof(argv[2]) : 0);
        xd_reader_error(r, &err); /* has more details than FFmpeg's code */
    }
    if (rc < 0 && !is_over)
        fprintf(stderr, "ffmpeg: %s\n",
                err.code != XD_OK ? err.msg : av_err2str(rc));
    xd_reader_free(r);
    xd_source_unref(s);
    return rc < 0;
}
