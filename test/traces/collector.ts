import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP sends it. */
export interface Collected {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** 1 internal, 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly attributes: Readonly<Record<string, unknown>> }[];
}

export interface Collector {
  readonly url: string;
  readonly spans: Collected[];
  /** Everything that was received. */
  text(): string;
  close(): Promise<void>;
}

/** Takes traces by OTLP over HTTP, as JSON, as a collector of OpenTelemetry does. */
export async function startCollector(): Promise<Collector> {
  const spans: Collected[] = [];
  let text = '';
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    text += body;
    for (const resource of JSON.parse(body).resourceSpans)
      for (const scope of resource.scopeSpans)
        for (const span of scope.spans) spans.push(plain(span));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => text,
    close: () =>
      new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

function plain({ attributes, events = [], parentSpanId, status = {}, ...span }: any): Collected {
  return {
    ...span,
    status,
    parentSpanId: parentSpanId || undefined,
    attributes: valuesOf(attributes),
    events: events.map((event: any) => ({ attributes: valuesOf(event.attributes) })),
  };
}

const valuesOf = (attributes: any[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
