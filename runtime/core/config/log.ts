import { format } from 'node:util';

/** Log levels with the numbers of bunyan and pino, which log collectors know. */
export const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;

export type Level = keyof typeof LEVELS;

/** Writes one line: a message whose `%s` takes the next value, or fields and a message. */
export interface Write {
  (message: string, ...values: readonly unknown[]): void;
  (fields: object, message?: string, ...values: readonly unknown[]): void;
}

/**
 * The server's log. Each line is one JSON document:
 * `{"level":30,"time":1764000000000,"requestId":"…","msg":"posted"}`.
 *
 * @example ctx.log.info({ title: args.input.title }, 'posted');
 */
export type Logger = Record<Level, Write> & {
  /** A logger that adds these fields to every line. */
  child(fields: object): Logger;
  /** Waits until all lines have been written. */
  flush(): void;
};

/** Where lines go. */
export interface Destination {
  write(line: string): unknown;
  flushSync?(): void;
}

export interface LogOptions {
  readonly level: Level | 'silent';
  /** Keys whose values are never written. They are looked for in a line and one level below. */
  readonly secret?: readonly string[];
  /** Fields that the place of a line gives, as the middle of a JSON object: `,"trace_id":"…"`. */
  readonly around?: () => string;
}

/** Writes lines of `level` and of more severe levels. */
export function createLog(
  { level, secret = [], around }: LogOptions,
  destination: Destination,
): Logger {
  const least = level === 'silent' ? Infinity : LEVELS[level];
  const fieldsOf = createWriter(new Set(secret));
  const bind = (bound: string, known: ReadonlySet<string>): Logger => {
    const write = (name: Level): Write =>
      LEVELS[name] < least
        ? () => {}
        : (first: object | string, ...rest: readonly unknown[]) => {
            const { fields, message } = partsOf(first, rest);
            const said = message === undefined ? '' : `,"msg":${JSON.stringify(message)}`;
            const time = `{"level":${LEVELS[name]},"time":${Date.now()}`;
            const place = around ? around() : '';
            destination.write(`${time}${bound}${place}${fieldsOf(fields, known)}${said}}\n`);
          };
    return {
      trace: write('trace'),
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      fatal: write('fatal'),
      child: (fields) =>
        bind(bound + fieldsOf(fields, known), new Set([...known, ...Object.keys(fields)])),
      flush: () => destination.flushSync?.(),
    };
  };
  return bind('', new Set());
}

interface Parts {
  readonly fields: object;
  readonly message: string | undefined;
}

function partsOf(first: object | string, rest: readonly unknown[]): Parts {
  const text = (message: string, values: readonly unknown[]) =>
    values.length === 0 ? message : format(message, ...values);
  if (typeof first === 'string') return { fields: {}, message: text(first, rest) };
  const [message, ...values] = rest;
  const said = message === undefined ? undefined : text(String(message), values);
  if (first instanceof Error) return { fields: { err: first }, message: said ?? first.message };
  return { fields: first, message: said };
}

/**
 * Prints fields as the middle of a JSON object, each with a comma before it. A field that a child
 * has bound is not printed again, as a line has one `requestId`.
 */
function createWriter(
  secret: ReadonlySet<string>,
): (fields: object, bound: ReadonlySet<string>) => string {
  const hidden = (key: string, value: unknown) =>
    secret.has(key) && value !== undefined ? '[secret]' : value;
  const inner = (value: unknown) =>
    isPlain(value) && Object.keys(value).some((key) => secret.has(key))
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hidden(key, each)]))
      : value;
  return (fields, bound) => {
    let text = '';
    for (const [key, value] of Object.entries(fields)) {
      if (bound.has(key)) continue;
      const printed = print(inner(hidden(key, value)));
      if (printed !== undefined) text += `,${JSON.stringify(key)}:${printed}`;
    }
    return text;
  };
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Error);

/** Writes any value, even a BigInt, a circular object or a getter that throws. */
function print(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, asJson);
  } catch (error) {
    return JSON.stringify(`[not written: ${error instanceof Error ? error.message : 'no JSON'}]`);
  }
}

function asJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { ...value, type: name, message, stack, ...(cause !== undefined && { cause }) };
}
