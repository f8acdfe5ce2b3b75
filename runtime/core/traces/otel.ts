import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  context,
  type ContextManager,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';
import type { Attributes, OpenSpan, SpanOptions, Tracing } from './tracing.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import type { NoteStatement } from '../store/statement-log.ts';

const KINDS = {
  server: SpanKind.SERVER,
  internal: SpanKind.INTERNAL,
  consumer: SpanKind.CONSUMER,
} as const;

/** Spans of the provider that is registered now. */
export function createTracing(): Tracing {
  keepContexts();
  const tracer = trace.getTracer('twofold');
  return {
    request: (headers, name, attributes) => openRequest(tracer, headers, name, attributes),
    span: (name, options, work) => inSpan(tracer, name, options, work),
    place: () => {
      const active = context.active();
      return isSampled(trace.getSpan(active)) ? active : undefined;
    },
    placeText: () => {
      const span = trace.getSpan(context.active());
      if (!span || !isSampled(span)) return undefined;
      const { traceId, spanId } = span.spanContext();
      return `00-${traceId}-${spanId}-01`;
    },
    placeOf: named,
    at: (place, work) => (place ? context.with(place as Context, work) : work()),
    statements: (system) => statementNote(tracer, system),
    logFields,
  };
}

function openRequest(
  tracer: Tracer,
  headers: IncomingHttpHeaders,
  name: string,
  attributes: Attributes,
): ReturnType<Tracing['request']> {
  const parent = continued(headers);
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
  const active = trace.setSpan(parent, span);
  return { span: opened(span), run: (work) => context.with(active, work) };
}

function inSpan<T>(
  tracer: Tracer,
  name: string,
  { kind, attributes }: SpanOptions,
  work: (span: OpenSpan) => T,
): T {
  const active = context.active();
  const parent = trace.getSpan(active);
  if (parent && !isSampled(parent)) return work(UNSAMPLED);
  const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, active);
  return context.with(trace.setSpan(active, span), () => ended(opened(span), work));
}

function ended<T>(span: OpenSpan, work: (span: OpenSpan) => T): T {
  const failed = (thrown: unknown): never => {
    failBy(span, thrown);
    span.end();
    throw thrown;
  };
  try {
    const result = work(span);
    if (result instanceof Promise) return result.then((value) => (span.end(), value), failed) as T;
    span.end();
    return result;
  } catch (thrown) {
    return failed(thrown);
  }
}

/** An error with a code is meant for the caller; every other one is masked, and is the cause. */
function failBy(span: OpenSpan, thrown: unknown): void {
  const { code, extensions } = (thrown ?? {}) as {
    readonly code?: unknown;
    readonly extensions?: { readonly code?: unknown };
    readonly expose?: boolean;
  };
  const known = (thrown as { expose?: boolean } | null)?.expose === true ? code : extensions?.code;
  if (typeof known === 'string') span.fail(known);
  else span.failMasked(thrown);
}

const opened = (span: Span): OpenSpan => ({
  recording: span.isRecording(),
  rename: (name) => void span.updateName(name),
  set: (attributes) => void span.setAttributes(attributes),
  fail: (type) => {
    span.setAttribute('error.type', type);
    span.setStatus({ code: SpanStatusCode.ERROR });
  },
  failMasked: (cause) => {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    span.recordException(error);
    span.setAttribute('error.type', error.name);
    span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
  },
  end: () => span.end(),
});

const UNSAMPLED: OpenSpan = {
  recording: false,
  rename: () => {},
  set: () => {},
  fail: () => {},
  failMasked: () => {},
  end: () => {},
};

function logFields(): string {
  const span = trace.getSpan(context.active())?.spanContext();
  if (!span || !isSpanContextValid(span)) return '';
  return `,"trace_id":"${span.traceId}","span_id":"${span.spanId}"`;
}

/** W3C Trace Context, version 00; later versions begin in the same way. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/**
 * The context that a request continues. Without a propagator of the project, `traceparent` is read
 * here.
 */
function continued(headers: IncomingHttpHeaders): Context {
  if (propagation.fields().length > 0) return propagation.extract(ROOT_CONTEXT, headers);
  const { traceparent } = headers;
  return named(traceparent);
}

/** The place in a trace that a `traceparent` refers to. */
function named(traceparent: string | string[] | undefined): Context {
  if (typeof traceparent !== 'string') return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  const traceFlags = Number.parseInt(flags || '0', 16) & TraceFlags.SAMPLED;
  const remote = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(remote) ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
}

/**
 * Registers a context manager if there is none, because spans need to know the outer span, and a
 * provider alone does not keep it.
 */
function keepContexts(): void {
  const probe = context.with(ROOT_CONTEXT.setValue(PROBE, true), () =>
    context.active().getValue(PROBE),
  );
  if (probe !== true) context.setGlobalContextManager(new StoredContexts());
}

const PROBE = Symbol('twofold');

class StoredContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => work.apply(self as never, args));
  }

  bind<T>(active: Context, target: T): T {
    if (typeof target !== 'function') return target;
    return ((...args: unknown[]) => this.#storage.run(active, () => target(...args))) as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}

/** The description of a statement in a span. */
interface StatementSpan {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Adds a span for each statement inside a sampled one. It is made when the statement has ended, as
 * nothing runs inside of it.
 */
function statementNote(tracer: Tracer, system: string): NoteStatement {
  const cache = createBoundedCache<StatementSpan>({ entries: 500, bytes: 4_000_000 });
  const shownOf = (sql: string): StatementSpan => {
    const known = cache.get(sql);
    if (known) return known;
    const shown = show(sql, system);
    cache.set(sql, shown, 4 * sql.length + 200);
    return shown;
  };
  return (sql, _parameters, milliseconds, error) => {
    const active = context.active();
    if (!isSampled(trace.getSpan(active))) return;
    const { name, attributes } = shownOf(sql);
    const now = performance.timeOrigin + performance.now();
    const startTime = now - milliseconds;
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime }, active);
    if (error !== undefined) {
      const {
        code,
        errcode,
        name: type,
      } = error as { code?: unknown; errcode?: unknown; name?: unknown };
      // Only the code is recorded, because the message of a database may contain a value of the
      // row.
      span.setAttribute('error.type', String(code ?? errcode ?? type));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(now);
  };
}

/** Whether spans below this one are kept. It may have ended: a job goes on after its request. */
const isSampled = (span: Span | undefined): boolean =>
  span !== undefined && (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;

const WRITES = /^\s*(insert\s+into|update|delete\s+from)\s+"?([\w.]+)"?/i;

function show(sql: string, system: string): StatementSpan {
  const written = WRITES.exec(sql);
  const operation = (/^\s*(\w+)/.exec(sql)?.[1] ?? 'SQL').toUpperCase();
  const table = written?.[2];
  return {
    name: table === undefined ? operation : `${operation} ${table}`,
    attributes: {
      'db.system.name': system,
      'db.operation.name': operation,
      ...(table !== undefined && { 'db.collection.name': table }),
      'db.query.text': withoutLiterals(sql),
    },
  };
}

/**
 * Comments, quoted names, texts (those of `E''` with backslashes), and numbers, from left to right.
 */
const TOKENS =
  /--[^\n]*|\/\*[^]*?\*\/|"(?:[^"]|"")*"|\be'(?:\\[^]|''|[^'\\])*'|'(?:[^']|'')*'|\$(\w*)\$[^]*?\$\1\$|(?<![\w$".])\d+(?:\.\d+)?(?:e[+-]?\d+)?\b(?!")/gi;

/**
 * Statements of the server have placeholders for values, but those of the project may not: texts
 * and numbers in them become `?`, as the semantic conventions ask for. Comments are left out, as
 * they may hold values, too.
 */
export const withoutLiterals = (sql: string): string =>
  sql.replaceAll(TOKENS, (token) => {
    if (token.startsWith('"')) return token;
    return /^(?:--|\/\*)/.test(token) ? '' : '?';
  });
