/** An OAuth provider's credentials, from the environment. */
export interface ProviderCredentials {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUrl: string;
}
