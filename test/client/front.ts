import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The origin of a front end: its files, and everything else from the server behind it. */
export interface Front {
  readonly url: string;
  /** Methods and paths of the requests that were passed on. */
  readonly seen: string[];
  /** Answers this status for the refresh, in place of the server's. */
  refuse(status: number | null): void;
  /** Streams of events that are open. */
  streams(): number;
  close(): Promise<void>;
}

export async function createFront(
  target: () => string,
  files: Readonly<Record<string, string>>,
): Promise<Front> {
  const seen: string[] = [];
  const open = new Set<ServerResponse>();
  let refused: number | null = null;
  const server = createServer((from, to) => {
    const { pathname } = new URL(from.url!, 'http://front');
    const file = pathname === '/' ? '' : files[pathname.slice(1).replace(/\.js$/, '.ts')];
    if (file !== undefined) return serveFile(pathname, file, to);
    seen.push(`${from.method} ${pathname}`);
    if (refused !== null && pathname === '/api/auth/refresh')
      return to.writeHead(refused, refusalFor(from)).end('{"error":"no"}');
    if (/event-stream/.test(from.headers.accept ?? '')) {
      open.add(to);
      to.once('close', () => open.delete(to));
    }
    return passOn(new URL(from.url!, target()), from, to);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    refuse: (status) => (refused = status),
    streams: () => open.size,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** As the server refuses, also to a page of another origin that it allows. */
const refusalFor = ({ headers: { origin } }: IncomingMessage) => ({
  'content-type': 'application/json',
  ...(origin && {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
  }),
});

/** A page whose client is in `window.client` once it is loaded. */
const PAGE = `<!doctype html><title>front</title>
<script type="module">import * as client from '/index.js'; window.client = client;</script>`;

function serveFile(path: string, text: string, to: ServerResponse): void {
  const isPage = path === '/';
  to.writeHead(200, { 'content-type': isPage ? 'text/html' : 'text/javascript' });
  to.end(isPage ? PAGE : stripTypeScriptTypes(text));
}

function passOn(url: URL, from: IncomingMessage, to: ServerResponse): void {
  const { method, headers } = from;
  const onward = request(
    url,
    // A connection that is kept may end just when it is used again, on a busy machine.
    { method: method!, headers: { ...headers, host: url.host }, agent: false },
    (answer) => {
      to.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(to);
      answer.once('error', () => to.destroy());
      to.once('close', () => onward.destroy());
    },
  );
  onward.once('error', () => {
    if (to.headersSent) return to.destroy();
    return to.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
  });
  from.pipe(onward);
}
