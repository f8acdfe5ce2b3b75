import { parseEnv } from 'node:util';
import type { ComposeContext } from './compose-app.ts';
import { type Entry, isMapping, itemsOf, membersOf, type Problems } from './problems.ts';
import { needsSource, sourcePathOf, textOf } from './values.ts';

/** `environment` over `env_file`. A variable without a value is taken from the caller's `env`. */
export function environmentOf(
  service: ReadonlyMap<string, Entry>,
  context: ComposeContext,
  problems: Problems,
): Record<string, string> {
  const files = service.get('env_file');
  const own = service.get('environment');
  return {
    ...(files &&
      Object.assign({}, ...itemsOf(files).map((file) => readFile(file, context, problems)))),
    ...(own && variablesOf(own, context.env, problems)),
  };
}

function readFile(entry: Entry, { source }: ComposeContext, problems: Problems): object {
  const members = isMapping(entry.value) ? membersOf(entry, problems, ['path', 'required']) : null;
  const named = members ? members.get('path') : entry;
  const text = named && textOf(named, problems);
  const path = named && text && sourcePathOf(named.path, text, problems);
  if (!named || !path) return {};
  if (!source) return (needsSource(named, problems), {});
  const file = source.file(path);
  if (file) return parseEnv(file.content.toString('utf8'));
  if (members?.get('required')?.value !== false)
    problems.add(named.path, `is not in the source: ${path}`);
  return {};
}

/** A mapping, or a list of `NAME=value`. */
export function variablesOf(
  entry: Entry,
  env: ComposeContext['env'],
  problems: Problems,
): Record<string, string> {
  const found: Record<string, string> = {};
  const add = (key: string, value: string | undefined) => {
    const text = value ?? (Object.hasOwn(env, key) ? env[key] : undefined);
    if (text !== undefined) found[key] = text;
  };
  if (isMapping(entry.value))
    for (const [key, member] of membersOf(entry, problems))
      add(key, member.value === null ? undefined : textOf(member, problems));
  else
    for (const item of itemsOf(entry)) {
      const text = textOf(item, problems) ?? '';
      const at = text.indexOf('=');
      if (at < 0) add(text, undefined);
      else add(text.slice(0, at), text.slice(at + 1));
    }
  return found;
}
