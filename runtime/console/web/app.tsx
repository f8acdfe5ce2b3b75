import { useEffect } from 'preact/hooks';
import { followLink, path } from './address.ts';
import { Shell } from './shell.tsx';
import { DataPage } from './pages/data.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { SchemaPage } from './pages/schema.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { HomePage } from './pages/home.tsx';
import { Failure } from './parts/failure.tsx';
import { describe, description, startFailure } from './session.ts';
import { t } from './messages.ts';

/** The page of the address, for a user who is signed in. */
export function App({ refused }: { refused: string | null }) {
  const known = description.value;
  useEffect(() => {
    document.addEventListener('click', followLink);
    return () => document.removeEventListener('click', followLink);
  }, []);
  if (!known)
    return (
      <main class="alone">
        <h1>{t('Console')}</h1>
        <Failure error={startFailure.value ?? ''} again={describe} />
      </main>
    );
  if (known.caller === null) return <SignInPage known={known} refused={refused} />;
  return <Shell known={known}>{pageAt(path.value)}</Shell>;
}

function pageAt(at: string) {
  const [, first, second] = at.split('/');
  if (at === '/') return <HomePage />;
  if (first === 'data') return <DataPage plural={second ?? null} />;
  if (first === 'schema' && second === undefined) return <SchemaPage />;
  return <NotFoundPage />;
}
