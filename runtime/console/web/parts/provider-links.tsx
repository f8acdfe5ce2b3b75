import { base, isOurs, navigate } from '../address.ts';
import { t } from '../messages.ts';
import { signIn, type SignInAnswer } from '../session.ts';

/**
 * Marks the address to which a provider sends the browser back; a page may have a `code` of its
 * own.
 */
const MARK = 'signed-in-by';

interface ProviderLinksProps {
  readonly names: readonly string[];
  /**
   * Whether the page has to stay. The links then open a tab of their own, whose session this page
   * shares.
   */
  readonly apart: boolean;
}

/** Links to the providers; each leads back to the address that is open. */
export function ProviderLinks({ names, apart }: ProviderLinksProps) {
  return (
    <>
      {names.map((name) => (
        <a
          key={name}
          class="button"
          href={startOf(name)}
          {...(apart && { target: '_blank', rel: 'noopener noreferrer' })}
        >
          {t('Continue with {provider}', { provider: titleOf(name) })}
        </a>
      ))}
      {apart && names.length > 0 && (
        <p class="hint">
          {t('The provider opens in another tab. This page goes on when you are signed in there.')}
        </p>
      )}
    </>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  google: 'Google',
  github: 'GitHub',
  gitlab: 'GitLab',
  facebook: 'Facebook',
  microsoft: 'Microsoft',
  linkedin: 'LinkedIn',
};

const titleOf = (name: string): string =>
  (Object.hasOwn(TITLES, name) ? TITLES[name] : undefined) ??
  name.slice(0, 1).toUpperCase() + name.slice(1);

function startOf(provider: string): string {
  const asked = location.pathname + location.search;
  const back = `${base}/?${new URLSearchParams({ [MARK]: provider, to: asked })}`;
  return `/api/oauth/${encodeURIComponent(provider)}?${new URLSearchParams({ return_to: back })}`;
}

/**
 * Signs in with the code of a provider's redirect, and restores the address that was opened before.
 */
export async function takeProviderCode(): Promise<SignInAnswer | null> {
  const given = new URLSearchParams(location.search);
  const code = given.get('code');
  if (code === null || !given.has(MARK)) return null;
  navigate(ours(given.get('to')), { replace: true });
  return signIn('/api/oauth/exchange', { code });
}

/** Returns only an address of the console, because anybody can write this parameter into a link. */
function ours(to: string | null): string {
  const url = URL.parse(to ?? '', location.origin);
  const known = url?.origin === location.origin && isOurs(url.pathname);
  return known ? url.pathname + url.search : `${base}/`;
}
