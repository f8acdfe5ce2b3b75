/** The provider of an observed server, and the middleware that makes the spans of ours with the SDK alone. */
import type { Attributes, Context, SpanKind } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Middleware } from 'koa';

/** A span of a request as our server makes it, with those inside of it. */
export interface SpanShape {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly inside: readonly SpanShape[];
}

/** The spans inside of a request's own one, by workload. */
export type SpanShapes = Readonly<Record<string, readonly SpanShape[]>>;

/** Names the workload of a request, as a middleware does not know the statements below it. */
export const WORKLOAD_HEADER = 'x-workload';

/** Where the spans of a server go: to a collector, a tenth of them; or all of them to who started it. */
export type Destination = { readonly collector: string } | 'parent';

/** Registers the provider of a project. It sends OTLP in batches. */
export async function registerProvider(destination: Destination): Promise<void> {
  const { context, trace } = await import('@opentelemetry/api');
  const sdk = await import('@opentelemetry/sdk-trace');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const all = destination === 'parent';
  const exporter = all ? toParent : await toCollector(destination.collector);
  const root = new sdk.TraceIdRatioBasedSampler(all ? 1 : 0.1);
  trace.setGlobalTracerProvider(
    new sdk.TracerProvider({
      sampler: new sdk.ParentBasedSampler({ root }),
      spanProcessors: [
        all ? new sdk.SimpleSpanProcessor({ exporter }) : new sdk.BatchSpanProcessor({ exporter }),
      ],
    }),
  );
}

async function toCollector(address: string): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  return new OTLPTraceExporter({ url: `${address}/v1/traces` });
}

/** Collects spans until the one of their request ends, which is the last, and sends them as one tree. */
const ended: ReadableSpan[] = [];
const toParent: SpanExporter = {
  export: (spans, done) => {
    ended.push(...spans);
    const request = ended.find(({ parentSpanContext }) => parentSpanContext === undefined);
    if (request) process.send?.({ spans: shapesIn(request, ended.splice(0)) });
    done({ code: 0 });
  },
  shutdown: async () => {},
};

const shapesIn = (outer: ReadableSpan, spans: readonly ReadableSpan[]): readonly SpanShape[] =>
  spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === outer.spanContext().spanId)
    .map((span) => ({
      name: span.name,
      kind: span.kind,
      attributes: span.attributes,
      inside: shapesIn(span, spans),
    }));

/**
 * Makes the spans of `shapes` with the SDK alone, so that the cost of our server beyond them is that of our own part.
 * No part of a request that is not sampled has a span, as with ours.
 */
export async function spansByHand(shapes: SpanShapes): Promise<Middleware> {
  const { context, propagation, ROOT_CONTEXT, SpanKind, trace } =
    await import('@opentelemetry/api');
  const tracer = trace.getTracer('by hand');
  const make = ({ name, kind, attributes, inside }: SpanShape, within: Context) => {
    const span = tracer.startSpan(name, { kind, attributes }, within);
    const below = trace.setSpan(within, span);
    for (const shape of inside) make(shape, below);
    span.end();
  };
  return async (ctx, next) => {
    const parent = propagation.extract(ROOT_CONTEXT, ctx.req.headers);
    const attributes = { 'http.request.method': ctx.method };
    const request = tracer.startSpan(ctx.method, { kind: SpanKind.SERVER, attributes }, parent);
    const within = trace.setSpan(parent, request);
    await context.with(within, next);
    if (request.isRecording()) {
      for (const shape of shapes[ctx.get(WORKLOAD_HEADER)] ?? []) make(shape, within);
      request.updateName(`${ctx.method} /graphql`);
      request.setAttributes({ 'http.response.status_code': ctx.status, 'http.route': '/graphql' });
    }
    request.end();
  };
}
