import { lookUp } from '../../present.ts';
import type { Position } from '../../diagnostic.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { Finding } from '../../parse/places.ts';
import { finding, type Rule } from '../../rules/finding.ts';
import { isSafeUrl } from '../../rules/urls.ts';
import { OAUTH_PRESETS } from '../oauth-presets.ts';

const PRESETS: readonly string[] = OAUTH_PRESETS;

const NEEDED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['oidc', ['issuer']],
  ['oauth2', ['authorize_url', 'access_url', 'profile_url', 'subject', 'email']],
]);

/**
 * OAUTH_PRESET_UNKNOWN: every provider has a preset. OAUTH_PROVIDER: it needs the settings of its
 * preset, and https addresses.
 */
export const oauthProviders: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  for (const [name, provider] of Object.entries(values.auth?.oauth.providers ?? {})) {
    const path = ['auth', 'oauth', 'providers', name];
    if (name.includes('defaults'))
      yield finding('OAUTH_PROVIDER', at(path, 'key'), {
        summary: `A provider cannot be called ${name}`,
        why: 'the sign-in library keeps that name for itself',
        fix: 'choose another name',
      });
    if (name === 'exchange')
      yield finding('OAUTH_PROVIDER', at(path, 'key'), {
        summary: 'A provider cannot be called exchange',
        why: 'POST /api/oauth/exchange is a route of its own',
        fix: 'choose another name',
      });
    const preset = String(provider?.['preset'] ?? name);
    if (!PRESETS.includes(preset))
      yield unknown(preset, provider?.['preset'] ? at([...path, 'preset']) : at(path, 'key'));
    for (const key of NEEDED.get(preset) ?? []) {
      if (provider?.[key] === undefined) yield missing(name, preset, key, at(path, 'key'));
    }
    for (const [key, value] of Object.entries(provider ?? {})) {
      if (!/^issuer$|_url$/.test(key) || isSafeUrl(String(value))) continue;
      yield finding('OAUTH_PROVIDER', at([...path, key]), {
        summary: `${name}.${key} is no https address`,
        why: 'only the machine itself may be called without',
        fix: `${key}: https://…`,
      });
    }
  }
};

function unknown(preset: string, at: Position): Finding {
  return finding('OAUTH_PRESET_UNKNOWN', at, {
    summary: `There is no preset ${preset}`,
    why: `known: ${PRESETS.join(', ')}`,
    fix:
      didYouMean(preset, PRESETS) ??
      `preset: oauth2, with ${lookUp(NEEDED, 'oauth2').join(', ')}; or preset: oidc, with issuer`,
  });
}

function missing(name: string, preset: string, key: string, at: Position): Finding {
  return finding('OAUTH_PROVIDER', at, {
    summary: `The provider ${name} has no ${key}`,
    why: `the preset ${preset} needs it`,
    fix: `${name}: { preset: ${preset}, ${key}: … }`,
  });
}
