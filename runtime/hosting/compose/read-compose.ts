import type { ComposeApp, ComposeContext } from './compose-app.ts';
import { parseCompose } from './parse-compose.ts';
import {
  createProblems,
  type Entry,
  isMapping,
  membersOf,
  type Problems,
  below,
} from './problems.ts';
import { asProblem, assertServiceName, type ReadService, readService } from './service.ts';
import { declaredVolumes } from './volumes.ts';
import { failure } from '@twofold/runtime/errors';

/** `version` says nothing since Compose 2, and the project's name is the caller's. */
const KEYS = ['services', 'volumes', 'networks', 'name', 'version'];
const MOST_SERVICES = 50;

/**
 * The apps that a compose file describes, in the order of their start: those of one list start
 * together.
 *
 * @throws AppError 400 for a text that is no YAML, and for a variable that is demanded and absent;
 * 422 that names every key that is not supported, by its path.
 */
export function readCompose(text: string, context: ComposeContext): ComposeApp[][] {
  const problems = createProblems();
  const file = interpolateAll(parseCompose(text), context.env);
  const members = membersOf({ path: '', value: file }, problems, KEYS);
  const services = servicesOf(members.get('services'), problems);
  const declared = {
    services: new Set(services.keys()),
    volumes: declaredVolumes(members.get('volumes'), problems),
    networks: declaredNetworks(members.get('networks'), problems),
  };
  const read = [...services].map(([name, entry]) =>
    readService(name, entry, { context, problems, declared }),
  );
  const order = inOrder(read, problems);
  problems.assertNone();
  const completed = new Set(read.flatMap((each) => each.completed));
  return order.map((level) =>
    level.map(({ app }) => ({ ...app, once: completed.has(app.service) })),
  );
}

function servicesOf(entry: Entry | undefined, problems: Problems): Map<string, Entry> {
  if (!entry || !isMapping(entry.value) || Object.keys(entry.value).length === 0) {
    problems.add('services', 'must have at least one service');
    return new Map();
  }
  const services = membersOf(entry, problems);
  if (services.size > MOST_SERVICES)
    problems.add('services', `has more than ${MOST_SERVICES} services`);
  for (const [name, service] of services)
    asProblem(service.path, problems, () => assertServiceName(name));
  return services;
}

/** A network has no settings: it separates services, and nothing else. */
function declaredNetworks(entry: Entry | undefined, problems: Problems): Set<string> {
  const names = new Set(['default']);
  if (!entry || entry.value === null) return names;
  for (const [name, network] of membersOf(entry, problems)) {
    if (!/^[a-z0-9][a-z0-9_-]{0,62}$/.test(name))
      problems.add(network.path, 'must consist of lower-case letters, digits, hyphens and _');
    if (network.value !== null) {
      const driver = membersOf(network, problems, ['driver', 'labels']).get('driver');
      if (driver && driver.value !== 'bridge') problems.add(driver.path, 'is not supported');
    }
    names.add(name);
  }
  return names;
}

/** Lists of services of which each depends only on earlier lists. */
function inOrder(services: readonly ReadService[], problems: Problems): ReadService[][] {
  const levels: ReadService[][] = [];
  const done = new Set<string>();
  let left = services;
  while (left.length > 0) {
    const ready = left.filter(({ app }) => app.after.every((name) => done.has(name)));
    if (ready.length === 0) {
      const names = left.map(({ app }) => app.service).join(', ');
      problems.add(
        'services',
        `depend on each other in a circle, or on one that is not there: ${names}`,
      );
      return levels;
    }
    levels.push(ready);
    for (const { app } of ready) done.add(app.service);
    left = left.filter((each) => !ready.includes(each));
  }
  return levels;
}

type Variables = Readonly<Record<string, string>>;

/** The most characters of all values together, and of values in all. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
const MOST_VALUES = 50_000;
/** Levels of variables in defaults, and of the file: aliases can make a circle. */
const DEEPEST = 20;
const DEEPEST_FILE = 60;

/**
 * Replaces `${NAME}` in all texts of a file, as Compose does: `${A:-default}`, `${A-default}`,
 * `${A:?why}`, `${A?why}`, `${A:+other}`, `${A+other}`, `$A`, and `$$` for a dollar.
 *
 * @throws AppError 400 for a variable that is demanded and absent, and for what is none of these.
 * @example interpolateAll({ image: 'web:${TAG:-1}' }, {}) // { image: 'web:1' }
 */
export function interpolateAll(file: unknown, variables: Variables): unknown {
  let characters = 0;
  let values = 0;
  const visit = (value: unknown, path: string, depth = 0): unknown => {
    values += 1;
    if (depth > DEEPEST_FILE)
      throw failure.badRequest(
        'The compose file is nested too deeply, or its aliases are a circle',
      );
    if (values > MOST_VALUES) throw failure.badRequest('The compose file has too many values');
    if (typeof value === 'string') {
      const text = value.includes('$') ? interpolate(value, variables, path) : value;
      // What is read counts too: aliases repeat a text, and a long one may become a short one.
      characters += Math.max(value.length, text.length);
      if (characters > MOST_CHARACTERS) throw tooLong();
      return text;
    }
    if (Array.isArray(value))
      return value.map((item, index) => visit(item, below(path, index), depth + 1));
    if (!isMapping(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, visit(item, below(path, key), depth + 1)]),
    );
  };
  return visit(file, '');
}

const tooLong = () => failure.badRequest('The values of the compose file are too long');

/** `$$`, `$NAME`, or the beginning of `${NAME…`. */
const START = /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*))?/g;
const OPERATOR = /^(:?[-?+])/;

function interpolate(text: string, variables: Variables, path: string, depth = 0): string {
  const malformed = () => failure.badRequest(`${path} has a $ that begins no variable: write $$`);
  if (depth > DEEPEST) throw malformed();
  let result = '';
  let at = 0;
  for (;;) {
    if (result.length > MOST_CHARACTERS) throw tooLong();
    START.lastIndex = at;
    const match = START.exec(text);
    if (!match) return result + text.slice(at);
    const [whole, dollar, plain, braced] = match;
    result += text.slice(at, match.index);
    at = match.index + whole.length;
    if (dollar) result += '$';
    else if (plain) result += Object.hasOwn(variables, plain) ? variables[plain]! : '';
    else if (braced) {
      const end = endOf(text, at);
      if (end < 0) throw malformed();
      const resolve = (rest: string) => interpolate(rest, variables, path, depth + 1);
      const value = valueOf({ name: braced, rest: text.slice(at, end), path }, variables, resolve);
      if (value === null) throw malformed();
      result += value;
      at = end + 1;
    } else throw malformed();
  }
}

interface Braced {
  readonly name: string;
  /** What stands between the name and the closing brace. */
  readonly rest: string;
  readonly path: string;
}

/** @returns null when it is not well formed. */
function valueOf(
  { name, rest, path }: Braced,
  variables: Variables,
  resolve: (text: string) => string,
): string | null {
  const given = Object.hasOwn(variables, name) ? variables[name]! : undefined;
  if (rest === '') return given ?? '';
  const operator = OPERATOR.exec(rest)?.[1];
  if (operator === undefined) return null;
  const other = rest.slice(operator.length);
  const isSet = operator.startsWith(':') ? Boolean(given) : given !== undefined;
  if (operator.endsWith('+')) return isSet ? resolve(other) : '';
  if (isSet) return given!;
  if (operator.endsWith('-')) return resolve(other);
  throw failure.badRequest(`${path} needs ${name} in env${other ? `: ${resolve(other)}` : ''}`);
}

/** The position of the brace that closes the one before `from`; -1 when there is none. */
function endOf(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text.startsWith('${', at)) open += 1;
    else if (text[at] === '}') open -= 1;
    if (open === 0) return at;
  }
  return -1;
}
