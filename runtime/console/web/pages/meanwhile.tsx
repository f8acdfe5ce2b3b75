import { useEffect, useRef } from 'preact/hooks';
import { t } from '../messages.ts';
import { Cell } from '../parts/cell.tsx';
import { keepMine, type StagedRow, takeTheirs } from '../staged.ts';

/** The dialog `Changed meanwhile`: the values of somebody else beside one's own. */
export function ChangedMeanwhile({ row, done }: { row: StagedRow; done: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const keep = async () => {
    await keepMine(row);
    done();
  };
  const take = () => {
    takeTheirs(row);
    done();
  };
  return (
    <dialog ref={dialog} aria-label={t('Changed meanwhile')} onCancel={take}>
      <h2>{t('Changed meanwhile')}</h2>
      <p>{t('Somebody else has changed row {id} since you read it.', { id: row.id })}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('Field')}</th>
            <th scope="col">{t('Theirs')}</th>
            <th scope="col">{t('Yours')}</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(row.changes).map(([name, mine]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <Cell value={row.theirs?.[name]} />
              </td>
              <td>
                <Cell value={mine} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="buttons">
        <button type="button" onClick={() => void keep()}>
          {t('Keep mine')}
        </button>
        <button type="button" onClick={take}>
          {t('Take theirs')}
        </button>
      </div>
    </dialog>
  );
}
