import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { forwardedHeaders } from './headers.ts';
import { pageHead } from './pages.ts';
import type { AppRoute } from './route-table.ts';
import type { TargetPools } from './target-pool.ts';

/** Joins a WebSocket (or any other upgrade) to a target: after the head, bytes go through untouched both ways. */
export function proxyUpgrade(
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
  { route, pools, secure }: { readonly route: AppRoute; readonly pools: TargetPools; readonly secure: boolean },
): void {
  const pooled = pools.pick(route.targets);
  if (!pooled) return void client.end(pageHead('unavailable'));
  const { host, port } = pooled.target;
  const target = connect({ host, port, noDelay: true });
  let answered = false;
  pooled.active += 1;
  const end = once(() => {
    pooled.active -= 1;
    target.destroy();
    if (answered || client.destroyed) client.destroy();
    else client.end(pageHead('badGateway'));
  });
  target.once('data', () => (answered = true));
  target.once('connect', () => {
    target.write(requestHead(request, secure));
    if (head.length > 0) target.write(head);
    client.pipe(target).pipe(client);
  });
  for (const socket of [client, target]) socket.on('error', end).on('close', end);
}

function requestHead(request: IncomingMessage, secure: boolean): string {
  const headers = forwardedHeaders(request, secure);
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  lines.push('Connection: Upgrade', `Upgrade: ${request.headers.upgrade ?? ''}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
