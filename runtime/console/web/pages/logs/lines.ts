import { t } from '../../messages.ts';
import type { LogEntry } from '../../../flows/logs.ts';
import type { LogLine } from '../../parts/log-lines.ts';

/**
 * A line of the server: its message, then its fields, then the stack of an error, which is seen when
 * the line is opened.
 */
export function serverLine(entry: LogEntry): LogLine {
  const { id, time, level, message, request_id, fields } = entry;
  const also = request_id ?? '';
  const told = toldOf(fields);
  if (told !== null)
    return { id, time, level, text: told, also: `${also} ${message}`, details: fields };
  const end = message.indexOf('\n');
  const [first, rest] = end < 0 ? [message, ''] : [message.slice(0, end), message.slice(end)];
  const { err, stack, ...others } = fields;
  const pairs = Object.entries(others).map(([name, value]) => `  ${name}=${shown(value)}`);
  const stacks = [stack, ...stacksOf(err)].map((text) => `\n${String(text)}`).slice(stack ? 0 : 1);
  return {
    ...{ id, time, level },
    text: `${first}${pairs.join('')}${rest}${stacks.join('')}`,
    also,
    details: request_id === null ? others : { request_id, ...others },
  };
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

interface LoggedError {
  readonly stack?: string;
  readonly message?: string;
  readonly cause?: unknown;
}

/** The stack of an error, then those of its causes. */
function stacksOf(error: unknown, deepest = 5): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { stack, message = '', cause } = error as LoggedError;
  const causes = deepest === 0 ? [] : stacksOf(cause, deepest - 1);
  return [stack ?? message, ...causes.map((text) => `caused by: ${text}`)];
}

let made = 0;

/** A line of an app: `2026-11-23T08:00:00.000000000Z the text`. */
export function appLine(data: string): LogLine {
  const space = data.indexOf(' ');
  const time = space < 0 ? '' : data.slice(0, space);
  const isTime = /^\d{4}-\d\d-\d\dT/.test(time);
  return {
    id: `app-${(made += 1)}`,
    time: isTime ? time : null,
    text: isTime ? data.slice(space + 1) : data,
  };
}

interface Logged {
  readonly event?: {
    readonly type?: string;
    readonly user_id: string | number | null;
    readonly actor: { readonly kind: string; readonly id: string | number | null };
    readonly ip: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly mail?: { readonly to?: string; readonly subject: string; readonly text: string };
}

/**
 * A security event as a sentence, or a mail as its recipient, subject and text; null for another
 * line. What the sentence leaves out is seen when the line is opened.
 */
function toldOf({ event, mail }: Logged): string | null {
  if (mail?.to) return `${t('Mail to {to}: {subject}', { ...mail })}\n\n${mail.text}`;
  if (!event?.type) return null;
  const { type, user_id: user, actor, ip, data } = event;
  const words = type.replace(/^auth\./, '').replaceAll(/[._]/g, ' ');
  const by =
    actor.kind === 'anonymous' || actor.id === user
      ? ''
      : [actor.kind, actor.id].filter(Boolean).join(' ');
  const parts = [
    user && t('user {id}', { id: user }),
    by && t('by {actor}', { actor: by === 'host' ? t('the operator') : by }),
    ip && t('from {ip}', { ip }),
    ...['method', 'reason', 'identifier_masked', 'policy', 'role'].map((name) => data[name]),
  ];
  const rest = parts.filter(Boolean).join(', ');
  const subject = words.replace(/^api\b/, 'API').replace(/^./, (first) => first.toUpperCase());
  return rest === '' ? subject : `${subject}: ${rest}`;
}
