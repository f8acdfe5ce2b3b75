import { request } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';

interface To {
  readonly port: number;
  readonly host: string;
}

/** What a client may do again: it has not been sent. The session was told before that it ends. */
const UNSENT = new Set(['ERR_HTTP2_GOAWAY_SESSION', 'ERR_HTTP2_INVALID_SESSION']);

/**
 * Keeps `streams` requests going over HTTP/2, with one session that is opened again when the ingress says that it ends.
 * Anything but a whole 200 is a failure.
 */
export function startHttp2Load({ port, host, streams }: To & { readonly streams: number }) {
  const state = { running: true, ok: 0, newest: 0 };
  const failures: string[] = [];
  let session: ClientHttp2Session | undefined;
  const current = (): ClientHttp2Session => {
    if (session && !session.closed && !session.destroyed) return session;
    const opened = connect(`https://127.0.0.1:${port}`, {
      servername: host,
      rejectUnauthorized: false,
    });
    opened.on('error', () => {});
    opened.on('goaway', () => (session = session === opened ? undefined : session));
    return (session = opened);
  };
  const one = () =>
    new Promise<string>((resolve) => {
      let [status, text] = [0, ''];
      const stream = current().request({ ':path': '/', ':authority': host });
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      stream.on('response', (headers) => (status = Number(headers[':status'])));
      stream.on('error', (error: NodeJS.ErrnoException) =>
        resolve(UNSENT.has(error.code ?? '') ? 'again' : `${error.code} ${error.message}`),
      );
      stream.on('end', () => resolve(`${status} ${text}`));
    });
  const client = async () => {
    while (state.running) {
      const said = await one().catch((error: NodeJS.ErrnoException) =>
        UNSENT.has(error.code ?? '') ? 'again' : error.message,
      );
      if (said === 'again') continue;
      if (!said.startsWith('200 ')) failures.push(said);
      else {
        state.ok += 1;
        state.newest = Math.max(state.newest, Number(said.slice(4)));
      }
    }
  };
  const all = Promise.all(Array.from({ length: streams }, client));
  return {
    /** The newest version that has answered. */
    newest: () => state.newest,
    async stop() {
      state.running = false;
      await all;
      session?.close();
      return { ok: state.ok, failures };
    },
  };
}

/**
 * Reads an event stream that says its version and counts. One that has ended is opened again, which must succeed. No
 * event is lost before the end.
 *
 * @param newest which version answers new requests now.
 */
export function startEvents({ port, host, newest }: To & { readonly newest: () => number }) {
  const state = { running: true, events: 0, outlived: 0, stop: () => {} };
  const failures: string[] = [];
  const one = () =>
    new Promise<void>((resolve) => {
      let [expected, rest, answered] = [0, '', false];
      const read = (line: string) => {
        const [version, count] = line.slice('data: '.length).split(' ').map(Number);
        if (count !== expected) failures.push(`event ${count} instead of ${expected}`);
        expected += 1;
        state.events += 1;
        if ((version as number) < newest()) state.outlived += 1;
      };
      const options = { host: '127.0.0.1', port, path: '/events', headers: { host }, agent: false };
      const sent = request(options, (answer) => {
        answered = true;
        if (answer.statusCode !== 200) failures.push(`events: ${answer.statusCode}`);
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          const lines = (rest + chunk).split('\n\n');
          rest = lines.pop() ?? '';
          lines.forEach(read);
        });
        answer.on('error', () => {}).on('close', resolve);
      });
      // Before there was an answer, an error is a failed request.
      sent.on('error', (error) => {
        if (!answered && state.running) failures.push(error.message);
        resolve();
      });
      state.stop = () => void sent.destroy();
      sent.end();
    });
  const all = (async () => {
    while (state.running) await one();
  })();
  return async () => {
    state.running = false;
    state.stop();
    await all;
    return { events: state.events, outlived: state.outlived, failures };
  };
}
