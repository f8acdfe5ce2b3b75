import { html } from '../mails/html.ts';
import { type Consent, giveConsent, readConsent, takeConsent } from '../oauth/consent.ts';
import { callerOf } from '../base/caller.ts';
import { actionForm, renderForm } from './form.ts';
import type { Page, PageRequest, View } from './page.ts';
import { isProblem } from './problems.ts';
import { capital } from './sign-in-pages.ts';

/** `consent`: asks before a provider joins an account that exists. */
export const consentPage: Page = {
  name: 'consent',
  show: async (request, form) => {
    const { t, auth, koa } = request;
    const consent = await readConsent(auth, koa).catch((error: unknown) => {
      if (isProblem(error)) return null;
      throw error;
    });
    if (!consent) return over(request);
    const provider = capital(consent.identity.provider);
    const text = t.consent_text
      .replaceAll('{email}', () => consent.identity.email ?? '')
      .replaceAll('{provider}', () => provider);
    return {
      title: t.consent_title.replace('{provider}', () => provider),
      body: html`<p>${text}</p>${renderForm(request, form, { fields: [], submit: t.consent_submit })}${actionForm(request, 'refuse', {}, { label: t.consent_refuse })}`,
    };
  },
  submit: async (request, { do: action }) => {
    const { auth, koa, context, cookies } = request;
    const consent = await takeConsent(auth, koa);
    if (action !== 'refuse')
      return { redirect: await giveConsent(auth, koa, callerOf(context), consent) };
    cookies.writeNotice(koa, 'consent_refused');
    return { redirect: backFrom(request, consent) };
  },
};

/** The page to which a refusal leads: the sign-in page, which keeps the target of the flow. */
function backFrom(request: PageRequest, { returnTo, codeChallenge }: Consent): string {
  const signIn = request.path('sign-in');
  if (returnTo?.startsWith(signIn)) return returnTo;
  return request.path('sign-in', { return_to: returnTo, code_challenge: codeChallenge });
}

function over(request: PageRequest): View {
  const { t } = request;
  return {
    title: t.sign_in,
    status: 400,
    body: html`<p>${t.step_over}</p><p class="links"><a href="${request.path('sign-in')}">${t.back_to_sign_in}</a></p>`,
  };
}
