import { t } from '../../messages.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { decideLater, keepMine, type Row, type StagedRow, takeTheirs } from './staged.ts';
import { Value } from './value.tsx';

interface ChangedMeanwhileProps {
  readonly row: StagedRow;
  saved(path: string, row: Row): void;
  done(): void;
}

/** The dialog `Changed meanwhile`: the values of another user beside those of this user. */
export function ChangedMeanwhile({ row, saved, done }: ChangedMeanwhileProps) {
  const take = () => {
    takeTheirs(row);
    done();
  };
  const keep = async () => {
    await keepMine(row, saved);
    done();
  };
  return (
    <Dialog title={t('Changed meanwhile')} close={() => decideLater(row)} size="wide">
      <p>
        {t('Row {id} of {type} was changed since you read it.', { id: row.id, type: row.type })}
      </p>
      <div class="scroll" role="region" aria-label={t('Both versions')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('Field')}</th>
              <th scope="col">{t('Before')}</th>
              <th scope="col">{t('Theirs')}</th>
              <th scope="col">{t('Yours')}</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(row.changes).map(([name, mine]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>
                  <Value value={row.base[name]} />
                </td>
                <td>
                  <Value value={row.theirs?.[name]} />
                </td>
                <td>
                  <Value value={mine} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="buttons end">
        <button type="button" onClick={take}>
          {t('Take theirs')}
        </button>
        <button type="button" class="main" onClick={() => void keep()}>
          {t('Keep mine')}
        </button>
      </div>
    </Dialog>
  );
}
