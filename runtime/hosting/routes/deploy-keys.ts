import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { Core } from '../core.ts';
import { parseGitHost } from '../ssh/host-keys.ts';
import { readPublicKey } from '../ssh/keys.ts';

/** Routes for the keys of git over SSH. */
export function deployKeyHandlers({ apps, deployKeys, hostKeys }: Core) {
  const named = ({ params }: Call) => apps.byName(params['name'] as string);
  const hostOf = ({ params }: Call) => parseGitHost(params['host'] as string);
  return {
    async createDeployKey(call: Call) {
      const { id, name } = named(call);
      return reply(201, await deployKeys.create(id, `twofold-${name}`));
    },

    putDeployKey: async (call: Call<{ readonly private_key: string }>) =>
      reply(200, await deployKeys.put(named(call).id, call.body.private_key)),

    async getDeployKey(call: Call) {
      const key = await deployKeys.get(named(call).id);
      if (!key) throw failure.notFound('Deploy key not found');
      return reply(200, key);
    },

    async deleteDeployKey(call: Call) {
      const { id } = named(call);
      if (!(await deployKeys.get(id))) throw failure.notFound('Deploy key not found');
      await deployKeys.delete(id);
      return reply(200, { status: 'deleted' });
    },

    async listGitHosts() {
      const hosts = await hostKeys.list();
      return reply(200, { hosts, total: hosts.length });
    },

    async putGitHost(call: Call<{ readonly public_key: string }>) {
      const key = readPublicKey(call.body.public_key);
      if (!key)
        throw failure.badRequest(
          'public_key must be a public key of OpenSSH: ssh-ed25519 AAAAC3Nza…',
        );
      return reply(200, await hostKeys.put(hostOf(call), key));
    },

    async deleteGitHost(call: Call) {
      if (!(await hostKeys.delete(hostOf(call)))) throw failure.notFound('Git host not found');
      return reply(200, { status: 'deleted' });
    },
  };
}
