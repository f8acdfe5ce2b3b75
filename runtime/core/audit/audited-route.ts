import type { BoundRoute, Call, Reply } from '../http/route.ts';
import type { Kernel } from '../module.ts';
import type { AuditLog, AuditedChange } from './audit-log.ts';
import type { RouteSpec } from '@twofold/schema';

/**
 * Records the calls of a route that change something with a permission. Routes are wrapped where
 * they are mounted, so that none can be forgotten.
 */
export function auditedRoute({ audit, store }: Kernel, route: BoundRoute): BoundRoute {
  const { spec, handle } = route;
  if (!audit || !isAudited(spec)) return route;
  const { atomic = false } = spec.audit || {};
  const recorded = async (call: Call): Promise<Reply> => {
    const answer = await handle(call);
    if (answer.status < 400 && !isRecorded(audit, call, atomic))
      await audit.record(call.context, describeCall(call, answer));
    return answer;
  };
  return { spec, handle: atomic ? (call) => store.transaction(() => recorded(call)) : recorded };
}

/**
 * Whether the handler has recorded the call itself. What it wrote in a transaction of its own counts
 * only after the commit.
 */
function isRecorded(audit: AuditLog, { context }: Call, atomic: boolean): boolean {
  const state = audit.stateOf(context);
  return state === 'committed' || (atomic && state === 'running');
}

type Values = Readonly<Record<string, unknown>>;

const MOST_FIELDS = 50;
const LONGEST_TEXT = 500;

/**
 * The entry for the call of a route: the names of the fields in its body, the values of those that
 * the route allows, and the parameters of its path and query.
 */
export function describeCall(call: Call, answer: Reply): AuditedChange {
  const { route, params, query } = call;
  const spec = route.audit || {};
  const body = asValues(call.body);
  const { target, used } = targetOf(call, asValues(answer.body));
  const fields = Object.keys(body);
  const asked = pick(asValues(query), Object.keys(route.query ?? {}));
  return {
    action: spec.action ?? route.id,
    target,
    detail: {
      ...(fields.length > 0 && { fields: fields.slice(0, MOST_FIELDS).map(shortened) }),
      ...pick(body, spec.values ?? []),
      ...pick(
        params,
        Object.keys(params).filter((name) => !used.has(name)),
      ),
      ...(Object.keys(asked).length > 0 && { query: asked }),
    },
  };
}

/**
 * The object of a change: by the route's own pattern, or the name or id in its path, its body or
 * its answer.
 */
function targetOf({ route, params, body }: Call, answer: Values) {
  const spec = route.audit || {};
  const known: Values = { ...answer, ...asValues(body), ...params };
  const names = spec.target === undefined ? defaultNames(known) : namesIn(spec.target);
  const used = new Set(names);
  if (names.some((name) => known[name] == null)) return { target: '', used: new Set<string>() };
  const pattern = spec.target ?? names.map((name) => `{${name}}`).join('/');
  const target = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(known[name]));
  return { target: shortened(target), used };
}

const defaultNames = ({ name, id }: Values) => (name != null ? ['name'] : id != null ? ['id'] : []);

const namesIn = (pattern: string) => [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

const asValues = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};

function pick(from: Values, names: readonly string[]): Values {
  const given = names.filter((name) => from[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, bounded(from[name])]));
}

/** Shortens a large value, which would otherwise fill the log. */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return shortened(value);
  return JSON.stringify(value).length > LONGEST_TEXT * 4 ? '…' : value;
}

const shortened = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text;

/** Routes that callers use for their own account need no permission, and are not in the log. */
const OWN: ReadonlySet<string> = new Set(['public', 'user', 'session', 'proof']);

/**
 * Whether calls of the route are logged. A POST that needs only the permission to read changes
 * nothing.
 */
export const isAudited = ({ method, access, audit }: RouteSpec): boolean =>
  audit !== false && method !== 'GET' && !OWN.has(access) && !access.endsWith(':read');
