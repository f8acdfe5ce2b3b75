import type { ComposeApp, ComposeContext } from './compose-app.ts';
import { interpolateAll } from './interpolate.ts';
import { parseCompose } from './parse-compose.ts';
import { createProblems, type Entry, isMapping, membersOf, type Problems } from './problems.ts';
import { asProblem, assertServiceName, type ReadService, readService } from './service.ts';
import { declaredVolumes } from './volumes.ts';

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
