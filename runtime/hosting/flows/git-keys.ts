import { failure } from '@twofold/runtime/errors';
import { closed, count, dateTime, list, object, text } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import { parseGitHost } from '../ssh/host-keys.ts';
import { readPublicKey } from '../ssh/keys.ts';
import { deleted, flow, ON_APP, USUAL } from './flow.ts';

const key = object({ public_key: text, fingerprint: text }, ['public_key', 'fingerprint']);

export const createDeployKey = flow('POST /api/apps/:name/deploy-key', {
  needs: 'apps:write',
  summary: 'Makes a key for git over SSH, in place of an earlier one',
  answers: { 201: ['The public half, for the git host', key] },
  refuses: ON_APP,
  async handle({ params }, { apps, deployKeys }) {
    const { id, name } = apps.byName(params.name);
    return reply(201, await deployKeys.create(id, `twofold-${name}`));
  },
});

export const putDeployKey = flow('PUT /api/apps/:name/deploy-key', {
  needs: 'apps:write',
  summary: 'Uses a key of your own for git over SSH',
  body: closed({ private_key: { type: 'string', minLength: 1, maxLength: 20_000 } }, [
    'private_key',
  ]),
  answers: { 200: ['The public half', key] },
  refuses: ON_APP,
  handle: async ({ params, body }, { apps, deployKeys }) =>
    reply(200, await deployKeys.put(apps.byName(params.name).id, body.private_key)),
});

export const getDeployKey = flow('GET /api/apps/:name/deploy-key', {
  needs: 'apps:read',
  summary: 'Returns the public half of the deploy key',
  answers: { 200: ['The public half', key] },
  refuses: ON_APP,
  async handle({ params }, { apps, deployKeys }) {
    const found = await deployKeys.get(apps.byName(params.name).id);
    if (!found) throw failure.notFound('Deploy key not found');
    return reply(200, found);
  },
});

export const deleteDeployKey = flow('DELETE /api/apps/:name/deploy-key', {
  needs: 'apps:write',
  summary: 'Removes the deploy key',
  answers: { 200: ['It was removed'] },
  refuses: ON_APP,
  async handle({ params }, { apps, deployKeys }) {
    const { id } = apps.byName(params.name);
    if (!(await deployKeys.get(id))) throw failure.notFound('Deploy key not found');
    await deployKeys.delete(id);
    return deleted();
  },
});

const host = object(
  {
    host: text,
    public_key: text,
    fingerprint: text,
    source: { enum: ['api', 'clone'] },
    created_at: dateTime,
  },
  ['host', 'public_key', 'fingerprint', 'source', 'created_at'],
);

export const listGitHosts = flow('GET /api/git/hosts', {
  needs: 'system:read',
  summary: 'Lists the git hosts whose keys are known',
  answers: {
    200: ['The hosts', object({ hosts: list(host), total: count }, ['hosts', 'total'])],
  },
  refuses: USUAL,
  async handle(_call, { hostKeys }) {
    const hosts = await hostKeys.list();
    return reply(200, { hosts, total: hosts.length });
  },
});

export const putGitHost = flow('PUT /api/git/hosts/:host', {
  needs: 'system:write',
  summary: 'Sets the key by which a git host is recognised',
  audit: { target: 'git-host:{host}' },
  body: closed({ public_key: { type: 'string', minLength: 1, maxLength: 10_000 } }, ['public_key']),
  answers: { 200: ['The host', host] },
  refuses: USUAL,
  async handle({ params, body }, { hostKeys }) {
    const found = readPublicKey(body.public_key);
    if (!found)
      throw failure.badRequest(
        'public_key must be a public key of OpenSSH: ssh-ed25519 AAAAC3Nza…',
      );
    return reply(200, await hostKeys.put(parseGitHost(params.host), found));
  },
});

export const deleteGitHost = flow('DELETE /api/git/hosts/:host', {
  needs: 'system:write',
  summary: 'Forgets the key of a git host, so that the next clone pins it',
  audit: { target: 'git-host:{host}' },
  answers: { 200: ['It was removed'] },
  refuses: [...USUAL, 404],
  async handle({ params }, { hostKeys }) {
    if (!(await hostKeys.delete(parseGitHost(params.host))))
      throw failure.notFound('Git host not found');
    return deleted();
  },
});
