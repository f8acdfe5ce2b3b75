import { t } from '../messages.ts';
import { Button } from './button.tsx';

/**
 * An error with the server's message, and a button to try again.
 *
 * @example <Failure error={error} again={reload} />
 */
export function Failure({ error, again }: { error: string; again?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error}</p>
      {again && <Button onClick={again}>{t('Try again')}</Button>}
    </div>
  );
}
