import { t } from '../messages.ts';

/**
 * What went wrong, in the server's words, and the way to ask again.
 *
 * @example <Failure error={error} again={reload} />
 */
export function Failure({ error, again }: { error: string; again?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error}</p>
      {again && (
        <button type="button" onClick={again}>
          {t('Try again')}
        </button>
      )}
    </div>
  );
}
