/**
 * Passkeys on the pages, with the browser's own functions: a form with `data-passkey` asks the
 * server for options, calls the authenticator, and is sent with its answer.
 */

/** `get` signs in, `create` adds a passkey. */
type Ceremony = 'get' | 'create';

let conditional: AbortController | null = null;

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) show(form);

function show(form: HTMLFormElement): void {
  if (!isSupported()) return;
  form.hidden = false;
  const ceremony = form.dataset['passkey'] as Ceremony;
  form.querySelector('button')?.addEventListener('click', (event) => {
    event.preventDefault();
    conditional?.abort();
    void run(form, ceremony, {});
  });
  if (ceremony === 'get' && form.dataset['conditional'] !== undefined) void offer(form);
}

function isSupported(): boolean {
  return 'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/** Offers passkeys in the menu of the field that has `autocomplete="username webauthn"`. */
async function offer(form: HTMLFormElement): Promise<void> {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  conditional = new AbortController();
  await run(form, 'get', { mediation: 'conditional', signal: conditional.signal });
}

async function run(
  form: HTMLFormElement,
  ceremony: Ceremony,
  extra: Pick<CredentialRequestOptions, 'mediation' | 'signal'>,
): Promise<void> {
  try {
    const options = await readOptions(form);
    const credential =
      ceremony === 'get'
        ? await navigator.credentials.get({
            publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options as never),
            ...extra,
          })
        : await navigator.credentials.create({
            publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options as never),
          });
    if (!credential) return;
    const field = form.elements.namedItem('credential') as HTMLInputElement;
    field.value = JSON.stringify((credential as PublicKeyCredential).toJSON());
    form.submit();
  } catch (error) {
    if (extra.mediation === undefined && (error as Error).name !== 'AbortError') fail(form);
  }
}

/** Asks the page itself, with the form's token, because options belong to this browser. */
async function readOptions(form: HTMLFormElement): Promise<unknown> {
  const token = form.elements.namedItem('form_token') as HTMLInputElement;
  const body = new URLSearchParams({ form_token: token.value, do: 'passkey-options' });
  const response = await fetch(location.href, { method: 'POST', body });
  if (!response.ok || !/json/.test(response.headers.get('Content-Type') ?? '')) {
    // The page asks for a proof first.
    if (response.status === 403 && form.dataset['passkey'] === 'create') form.submit();
    throw new Error('no options');
  }
  return response.json();
}

function fail(form: HTMLFormElement): void {
  const error = form.querySelector<HTMLElement>('.error');
  if (!error) return;
  error.textContent = form.dataset['failed'] ?? '';
  error.hidden = false;
}
