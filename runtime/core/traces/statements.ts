import {
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { createBoundedCache } from '../store/bounded-cache.ts';
import type { NoteStatement } from '../store/statement-log.ts';

/** The description of a statement in a span. */
interface StatementSpan {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Adds a span for each statement inside a sampled one. It is made when the statement has ended, as
 * nothing runs inside of it.
 */
export function statementNote(tracer: Tracer, system: string): NoteStatement {
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
export const isSampled = (span: Span | undefined): boolean =>
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
