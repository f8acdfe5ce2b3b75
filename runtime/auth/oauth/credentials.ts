import type { KeyObject } from 'node:crypto';

/** An OAuth provider's credentials, from the environment. */
export interface ProviderCredentials {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string | SigningKey;
  readonly redirectUrl: string;
}

/** Apple's key, which signs a secret for each call. */
export interface SigningKey {
  readonly teamId: string;
  readonly keyId: string;
  readonly privateKey: KeyObject;
}
