import { failure } from '@twofold/runtime/errors';
import { closed, dateTime, list, object, type Shaped, text } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import type { HostedApp } from '../records/app.ts';
import { app, env as envShape } from '../records/app-shape.ts';
import type { AppFields } from '../records/fields.ts';
import { ENV_KEY, toEnv } from '../records/names.ts';
import { domainsOf } from '../records/domains.ts';
import { MASK, showApp } from '../records/view.ts';
import { flow, ON_APP, USUAL } from './flow.ts';

export const putEnv = flow('PUT /api/apps/:name/env', {
  needs: 'apps:write',
  summary: 'Replaces the whole environment',
  body: envShape as Shaped<NonNullable<AppFields['env']>>,
  answers: { 200: ['The app', app] },
  refuses: ON_APP,
  async handle({ params, body }, { apps, shown }) {
    const known = apps.byName(params.name);
    const env = withoutMasks(known, toEnv(body));
    return reply(200, showApp(await apps.update(known.id, { env }), shown));
  },
});

export const putSecret = flow('PUT /api/apps/:name/secrets/:key', {
  needs: 'apps:write',
  summary: 'Sets a secret, which cannot be read again',
  body: closed({ value: { type: 'string', maxLength: 65_536 } }, ['value']),
  answers: { 200: ['The app', app] },
  refuses: ON_APP,
  async handle({ params: { name, key }, body: { value } }, { apps, shown }) {
    const known = apps.byName(name);
    if (!new RegExp(ENV_KEY).test(key))
      throw failure.badRequest(
        "the secret's key must consist of letters, digits and _, and not begin with a digit",
      );
    if (value.includes('\0')) throw failure.badRequest('value must not contain a NUL byte');
    const { [key]: _shadowed, ...env } = known.env;
    const secrets = { ...known.secrets, [key]: value };
    return reply(200, showApp(await apps.update(known.id, { env, secrets }), shown));
  },
});

export const deleteSecret = flow('DELETE /api/apps/:name/secrets/:key', {
  needs: 'apps:write',
  summary: 'Removes a secret',
  answers: { 200: ['The app', app] },
  refuses: ON_APP,
  async handle({ params: { name, key } }, { apps, shown }) {
    const known = apps.byName(name);
    const { [key]: removed, ...secrets } = known.secrets;
    if (removed === undefined) throw failure.notFound('Secret not found');
    return reply(200, showApp(await apps.update(known.id, { secrets }), shown));
  },
});

const pair = closed(
  {
    certificate: { type: 'string', maxLength: 200_000 },
    key: { type: 'string', maxLength: 50_000 },
  },
  ['certificate', 'key'],
);
const accepted = [
  'The host names of the certificate, and when it expires',
  object({ hosts: list(text), expires_at: dateTime }),
] as const;

export const putCertificate = flow('PUT /api/apps/:name/certificate', {
  needs: 'apps:write',
  summary: 'Uses a certificate of your own',
  body: pair,
  answers: { 200: accepted },
  refuses: ON_APP,
  async handle({ params, body }, { apps, certificates }) {
    const domains = domainsOf(apps.byName(params.name).spec);
    if (domains.length === 0) throw failure.badRequest('A worker has no domain');
    return reply(200, await certificates.put(domains, body));
  },
});

export const putSystemCertificate = flow('PUT /api/system/certificate', {
  needs: 'system:write',
  summary: 'Uses a certificate of your own for the host of APP_URL',
  body: pair,
  answers: { 200: accepted },
  refuses: [...USUAL, 409],
  async handle({ body }, { certificates, ownHost }) {
    if (ownHost === null)
      throw failure.conflict(
        'The ingress does not serve this server: set APP_URL, and hosting.ingress.api to true',
      );
    return reply(200, await certificates.put([ownHost], body));
  },
});

/** Drops masked secrets, so that a body made from an earlier response does not overwrite them. */
export function withoutMasks(app: HostedApp, env: HostedApp['env']): HostedApp['env'] {
  return Object.fromEntries(
    Object.entries(env).filter(([key, value]) => !(value === MASK && key in app.secrets)),
  );
}
