"""Patterns for the markup and the addresses of walls, one a line; `walls` weighs them."""

import re

from tasks.web.wall_words import Wall, compile_patterns

MARKUP: dict[Wall, re.Pattern[str]] = {
    "bot_wall": compile_patterns(r"""
        _cf_chl_opt|/cdn-cgi/challenge-platform/h/|id=[\"']cf-(?:challenge|wrapper|error)
        captcha-delivery\.com
        px-captcha|_pxappid
        _incapsula_resource
        awswaf\.com|awswafintegration
        /_sec/cp_challenge|sec-if-cpt|bm-verify
        class=[\"']?[^\"'>]{0,80}\b(?:g-recaptcha|h-captcha|cf-turnstile)
        recaptcha/api\.js|hcaptcha\.com/1/
        anubis_challenge|within\.website/x/cmd/anubis
        /_fs-ch-
        ddos-guard\.net|sucuri_cloudproxy|sgcaptcha
        geetest|arkoselabs|distil_r_captcha
    """),
    "login_wall": compile_patterns(r"""
        <input[^>]{1,300}type=[\"']?password
    """),
    "cookie_wall": compile_patterns(r"""
        action=[\"']https://consent\.
        id=[\"']?(?:onetrust-consent-sdk|didomi-|qc-cmp2|cmpbox|usercentrics)
        id=[\"']?(?:sp_message_container|truste-consent)
        class=[\"'][^\"'>]{0,80}\b(?:consent-(?:page|wall|form)|fc-consent-root|con-wizard)
    """),
    "soft_404": compile_patterns(r"""
        <(?:html|body)[^>]{0,300}\bclass=[\"'][^\"'>]{0,400}\b(?:error-?404|page-?404|http-?404)
        <(?:html|body)[^>]{0,300}\bclass=[\"'][^\"'>]{0,400}\b(?:page-not-found|not-?found)
        prerender-status-code[\"'][^>]{0,40}404
        parkingcrew|sedoparking|bodis\.com|parklogic|hugedomains|afternic|window\.park\b
    """),
    "empty": compile_patterns(r"""
        <div[^>]{0,100}\bid=[\"']?(?:root|app|__next|__nuxt|react-root)[\"']?[^>]{0,100}>\s*</div>
        <app-root[^>]{0,100}>\s*</app-root>
        <frameset\b
    """),
}

ADDRESSES: dict[Wall, re.Pattern[str]] = {
    "bot_wall": compile_patterns(r"""
        //validate\.perfdrive\.com
        //geo\.captcha-delivery\.com
        /cdn-cgi/(?:challenge|l/chk)
        google\.[a-z.]+/sorry/
        /_sec/cp_challenge
        /(?:captcha|blocked|distil)\b|/errors/validatecaptcha|/\.well-known/sgcaptcha
    """),
    "login_wall": compile_patterns(r"""
        /(?:log-?in|sign-?in|sso|servicelogin|authwall|authorize)(?:[/.?]|$)
        //(?:login|signin|auth|sso|accounts|idp)\.
    """),
    "cookie_wall": compile_patterns(r"""
        //(?:[\w-]{1,40}\.)?(?:consent|cookies?|cookie-?(?:wall|consent)|privacy-?gate)\.
        //(?:[\w-]{1,40}\.)?(?:cmp|guce|my-?privacy|zustimmung|privacy-mgmt|consent-[\w-]{1,20})\.
        /(?:gdpr|dsgvo|rgpd|cookies?|privacy|user)[-_]?(?:consent|gate|choices?|wall)(?:[/.?]|$)
        /(?:collect)?consent(?:s|-a-|-?(?:form|page|wall|gate|manage[a-z]*|choices?))?(?:[/.?]|$)
        /(?:zustimmung|einwilligung|consentement|consentimiento|consenso|toestemming)(?:[/.?]|$)
        /(?:samtyc?kk?e|zgoda|souhlas|consentimento|cookie-?(?:muur|akkoord|zustimmung))(?:[/.?]|$)
    """),
    "soft_404": compile_patterns(r"""
        /(?:errors?|(?:error-?|page-?)?404|(?:page-?)?not-?found)(?:/404)?(?:\.\w{2,5})?/?(?:\?|$)
        //(?:www\.)?(?:hugedomains|sedo|afternic|dan)\.com
    """),
}
"""Patterns for the final URL, if redirects led to another page than requested."""
CHOICES = compile_patterns(r"""
    \b(?:choices?|options?|welcome|privacy|cookies?|gdpr|dsgvo|rgpd|consent|cmp|pur|abo|auswahl)\b
    \b(?:datenschutz|werbung|einstellungen|confidentialite|privacidad|voorkeuren)\b
""")
"""Words in the final URL of a consent page, if it also holds the way back to what was requested."""
