/** Providers whose addresses, scopes and answers are known, and the two kinds that the manifest describes. */
export const OAUTH_PRESETS = [
  'google',
  'github',
  'facebook',
  'apple',
  'microsoft',
  'discord',
  'gitlab',
  'linkedin',
  'slack',
  'twitch',
  'spotify',
  'oidc',
  'oauth2',
] as const;

export type OAuthPreset = (typeof OAUTH_PRESETS)[number];

/** The settings of a provider. Apple's secret is made from a key. */
export function providerSettings(name: string, preset: string): string[] {
  const secret = preset === 'apple' ? ['TEAM_ID', 'KEY_ID', 'PRIVATE_KEY'] : ['CLIENT_SECRET'];
  return ['CLIENT_ID', ...secret, 'REDIRECT_URL'].map(
    (part) => `${name.toUpperCase().replaceAll('-', '_')}_${part}`,
  );
}
