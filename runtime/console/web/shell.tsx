import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { base, path } from './address.ts';
import { t } from './messages.ts';
import { AccountMenu } from './parts/account-menu.tsx';
import { Confirmations } from './parts/confirm.tsx';
import { CurlButton } from './parts/curl.tsx';
import { Notices } from './parts/notices.tsx';
import type { Description } from './session.ts';

/** The frame of every page: the navigation beside it, the account above it. */
export function Shell({ known, children }: { known: Description; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [path.value]);
  return (
    <>
      <a
        class="skip"
        href="#content"
        onClick={(event) => (event.preventDefault(), main.current?.focus())}
      >
        {t('Skip to content')}
      </a>
      <header class="top">
        <button
          type="button"
          class="menu-button"
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen(!open)}
        >
          {t('Menu')}
        </button>
        <a class="brand" href={`${base}/`}>
          {known.name}
        </a>
        <span class={`badge ${known.environment}`}>{t(known.environment)}</span>
        <span class="spread" />
        <CurlButton />
        <AccountMenu known={known} />
      </header>
      <nav id="navigation" class={open ? 'side open' : 'side'} aria-label={t('Main')}>
        <ul>
          {known.pages.map((page) => (
            <li key={page.id}>
              <a href={page.path} aria-current={isCurrent(page.path) ? 'page' : undefined}>
                {t(page.title)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1} ref={main}>
        {children}
      </main>
      <Notices />
      <Confirmations />
    </>
  );
}

function isCurrent(to: string): boolean {
  const at = `${base}${path.value}`;
  return at === to || (to !== base && at.startsWith(`${to}/`));
}
