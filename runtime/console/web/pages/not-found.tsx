import { base } from '../address.ts';
import { t } from '../messages.ts';
import { useTitle } from '../parts/title.ts';

export function NotFoundPage() {
  useTitle(t('Page not found'));
  return (
    <>
      <h1>{t('Page not found')}</h1>
      <p>
        <a href={`${base}/`}>{t('Go to the first page')}</a>
      </p>
    </>
  );
}
