import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConsoleModel, type OAuthProvider, providerSettings } from '@twofold/schema';
import { flag, list, object, type Shaped, text, type ValueOf } from '@twofold/schema/shapes';
import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import type { Kernel, Principal, RequestContext } from '@twofold/runtime/kernel';
import { hasScope } from '@twofold/runtime/kernel';
import type { Caller } from '../own-pages.ts';
import { PAGES } from '../page-list.ts';
import { flow, whole } from './flow.ts';

/** It is written by hand in `@twofold/console`, for pages of one's own. */
const CALLER: Shaped<Caller | null> = { type: ['object', 'null'] };

export const description = whole({
  name: text,
  version: text,
  environment: { enum: ['development', 'production'] },
  path: text,
  sign_in: object(
    {
      host: flag,
      users: flag,
      providers: list(text),
      email_code: { ...flag, description: 'When a mail can have the code of a sign-in' },
      forgot: { ...text, description: 'The page that sends a link to choose another password' },
      passkeys: { ...flag, description: 'Absent where they are on' },
      impersonation: { ...flag, description: 'Absent where it is on' },
    },
    ['host', 'users', 'providers'],
  ),
  caller: CALLER,
  pages: list(whole({ id: text, title: text, path: text })),
});

export type Description = ValueOf<typeof description>;

/** It needs no credential, so that the page knows how to sign in. */
const describe = flow('GET /api/console', {
  needs: 'public',
  summary: 'What the console has, and what the caller may see of it',
  answers: { 200: ['Without a credential `caller` is null and `pages` is empty', description] },
  async handle({ context }, { kernel, model, operator }) {
    const { project, settings, root } = kernel;
    const caller = await callerOf(kernel, model, context);
    const answer = {
      name: project.name,
      version: await versionOf(root),
      environment: settings.production ? 'production' : 'development',
      path: model.path,
      sign_in: { host: model.host && operator, ...signInOf(kernel, model) },
      caller,
      pages: caller === null ? [] : pagesOf(model, kernel, caller),
    };
    return reply(200, answer, { 'Cache-Control': 'no-store' });
  },
});
export { describe as console };

/**
 * Who can sign in, and by what other than a password. Members with their usual value are absent.
 */
function signInOf(kernel: Kernel, model: ConsoleModel) {
  const users = Object.keys(model.roles).length > 0;
  const auth = users ? kernel.project.auth : null;
  return {
    users,
    providers: auth ? providersOf(kernel, auth.oauth.providers) : [],
    ...((auth?.emailSignIn === 'code' || auth?.emailSignIn === 'both') && { email_code: true }),
    ...(auth?.pages && { forgot: `${auth.pages.url ?? ''}${auth.pages.path}/forgot-password` }),
    ...(auth?.passkeys === false && { passkeys: false }),
    ...(auth?.impersonation === false && { impersonation: false }),
  };
}

/** Providers of the manifest and those that need only settings, when they have their settings. */
function providersOf({ settings }: Kernel, listed: readonly OAuthProvider[]): string[] {
  const presets = new Map(['google', 'github', 'facebook'].map((name) => [name, name]));
  for (const { name, preset } of listed) presets.set(name, preset);
  return [...presets]
    .filter(([name, preset]) =>
      providerSettings(name, preset).every((setting) => settings.text(setting)),
    )
    .map(([name]) => name);
}

async function callerOf(
  kernel: Kernel,
  model: ConsoleModel,
  { principal }: RequestContext,
): Promise<Caller | null> {
  if (principal.kind === 'anonymous') return null;
  if (principal.kind === 'host' && model.host)
    return { kind: 'host', id: null, name: null, email: null, role: null, permissions: ['*'] };
  if (principal.kind !== 'user' || !isLetIn(model, principal)) throw failure.forbidden();
  return {
    kind: 'user',
    id: String(principal.id),
    ...(await profileOf(kernel, principal.id)),
    role: principal.role?.name ?? null,
    permissions: [...new Set(principal.permissions)],
  };
}

const isLetIn = ({ roles }: ConsoleModel, { role }: Extract<Principal, { kind: 'user' }>) =>
  role !== null && Object.hasOwn(roles, role.name);

async function profileOf(
  { store, project }: Kernel,
  id: number | string,
): Promise<Pick<Caller, 'name' | 'email'>> {
  const row = await store.db
    .selectFrom('auth_users')
    .select(['first_name', 'last_name', 'username', 'email'])
    .where('user_id', '=', id)
    .executeTakeFirst();
  const user = project.auth?.user;
  const column = user?.entity == null ? null : placeOf(store, user);
  const email =
    (row?.['email'] as string | null | undefined) ?? (await emailIn(store, column, id)) ?? null;
  const name = [row?.['first_name'], row?.['last_name']].filter(Boolean).join(' ');
  return { name: name || ((row?.['username'] as string | null) ?? null), email };
}

const placeOf = (
  { dialect }: Kernel['store'],
  { table, schema }: { table: string; schema?: string },
) => (dialect === 'postgres' && schema !== undefined ? `${schema}.${table}` : table);

async function emailIn(store: Kernel['store'], table: string | null, id: number | string) {
  if (table === null) return null;
  const row = await store.db.selectFrom(table).selectAll().where('id', '=', id).executeTakeFirst();
  return row?.['email'] as string | undefined;
}

/** The pages that a caller may open: ours, then those of the project by their titles. */
const pagesOf = ({ path, ownPages }: ConsoleModel, kernel: Kernel, { permissions }: Caller) => {
  const may = (needs: string | null) => needs === null || hasScope(permissions, needs);
  const ours = PAGES.filter((page) => page.isThere(kernel.project, kernel) && may(page.needs));
  // A path with a parameter cannot be opened from a list.
  const own = (ownPages?.list ?? [])
    .filter((page) => !page.path.includes(':') && may(page.permission))
    .toSorted((a, b) => (a.title < b.title ? -1 : 1));
  return [
    ...ours.map(({ id, title, at }) => ({ id, title, path: `${path}${at}` })),
    ...own.map((page) => ({
      id: `pages/${page.path}`,
      title: page.title,
      path: `${path}/pages/${page.path}`,
    })),
  ];
};

const versions = new Map<string, Promise<string>>();

/** The version that the project gives itself. It is read once. */
function versionOf(root: string): Promise<string> {
  const known = versions.get(root) ?? readVersion(root);
  versions.set(root, known);
  return known;
}

async function readVersion(root: string): Promise<string> {
  try {
    const text = await readFile(join(root, 'package.json'), 'utf8');
    return (JSON.parse(text) as { version?: string }).version ?? '0.0.0';
  } catch {
    return '0.0.0';
  }
}
