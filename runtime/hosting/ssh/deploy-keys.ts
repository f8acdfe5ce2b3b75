import { failure } from '@twofold/runtime/errors';
import { deployKeyKey, type Vault } from '../records/settings-table.ts';
import { createKeyPair, type PublicKey, readPrivateKey } from './keys.ts';

/** The half of a deploy key that a git host gets. */
export interface DeployKey {
  /** A line of `authorized_keys`. */
  readonly public_key: string;
  readonly fingerprint: string;
}

/** A key with which the server signs in at git hosts for one app. The private half stays sealed. */
export interface DeployKeys {
  /** Makes an Ed25519 key, in place of an earlier one. */
  create(appId: string, comment: string): Promise<DeployKey>;
  /** @throws AppError 400 when it is no private key, or one with a passphrase. */
  put(appId: string, privateKey: string): Promise<DeployKey>;
  get(appId: string): Promise<DeployKey | undefined>;
  delete(appId: string): Promise<void>;
  /** The private half, for a clone. */
  privateKey(appId: string): Promise<string | undefined>;
}

interface Stored extends DeployKey {
  readonly private_key: string;
}

export function createDeployKeys(vault: Vault): DeployKeys {
  const read = async (appId: string): Promise<Stored | undefined> => {
    const text = await vault.get(deployKeyKey(appId));
    return text === undefined ? undefined : (JSON.parse(text) as Stored);
  };
  const write = async (appId: string, privateKey: string, half: PublicKey) => {
    const shown = { public_key: half.line, fingerprint: half.fingerprint };
    await vault.set(deployKeyKey(appId), JSON.stringify({ ...shown, private_key: privateKey }));
    return shown;
  };
  return {
    async create(appId, comment) {
      const { privateKey, publicKey } = createKeyPair(comment);
      return write(appId, privateKey, publicKey);
    },
    async put(appId, text) {
      const found = readPrivateKey(text);
      if (found !== null) return write(appId, found.privateKey, found.publicKey);
      throw failure.badRequest(
        'private_key must be a private key as OpenSSH or PEM, without a passphrase',
      );
    },
    async get(appId) {
      const { private_key: _sealed, ...shown } = (await read(appId)) ?? {};
      return 'public_key' in shown ? (shown as DeployKey) : undefined;
    },
    delete: (appId) => vault.delete(deployKeyKey(appId)),
    privateKey: async (appId) => (await read(appId))?.private_key,
  };
}
