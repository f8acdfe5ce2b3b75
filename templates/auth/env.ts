import { type OAuthProvider, type Project, providerSettings } from '@twofold/schema';
import type { EnvSetting } from '../capability.ts';

/** The settings of sign-in for `.env`. */
export function authEnv({ auth, server }: Project): EnvSetting[] {
  const tokens = {
    name: 'JWT_SECRET',
    why: 'Signs access tokens; 32 bytes or more',
    value: '',
    secret: true,
  };
  if (!auth) return [tokens];
  return [
    tokens,
    {
      name: '# APP_URL',
      why: 'Where people reach the app: links of mails begin with it. Production demands it, https unless on this machine',
      value: `http://localhost:${server.port}`,
    },
    { name: 'API_KEY', why: 'What other services send in X-API-Key', value: '', secret: true },
    ...auth.oauth.providers.flatMap((provider) => oauthSettings(provider)),
  ];
}

/**
 * The settings are commented out until the user fills them in: a partly configured provider stops
 * the server.
 */
function oauthSettings({ name, preset }: OAuthProvider): EnvSetting[] {
  return providerSettings(name, preset).map((setting, index) => ({
    name: `# ${setting}`,
    why: index === 0 ? `Sign-in with ${name}` : '',
    value: '',
  }));
}
