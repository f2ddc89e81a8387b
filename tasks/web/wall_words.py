"""Patterns for the titles, texts, markup and addresses of walls, one a line.

Collected from real bot checks, log-in pages (paywalls among them), consent pages, and "not found"
pages of content systems. Each pattern also occurs in genuine pages, in their text or boilerplate;
`walls` weighs them. All are for lower-case text, which is twice as fast as ignoring case.
"""

import re
from typing import Literal

Wall = Literal["bot_wall", "login_wall", "cookie_wall", "soft_404", "empty"]
WALLS: tuple[Wall, ...] = ("bot_wall", "login_wall", "cookie_wall", "soft_404", "empty")

_NAMES = {
    "PAGE": r"(?:page|url|document|file|content|article|story|link|item|resource|object key)",
    "CANNOT": r"(?:could not|couldn.t|can ?not|can.?t|unable to|were(?: not|n.t) able to|"
    r"have(?: not|n.t) been able to|failed to)",
    "MISSING": r"(?:(?:could not|couldn.t|can ?not|can.t|was not|wasn.t|were not|is not|isn.t|"
    r"does ?n.t|does not|no longer|not)(?: be)? (?:found|exists?|available|located|there))",
    "LOG_IN": r"(?:(?:log|sign)[- ]?in)",
}


def compile_patterns(lines: str) -> re.Pattern[str]:
    """Compile one alternative for each line; `<PAGE>` and others stand for patterns in `_NAMES`."""
    for name, pattern in _NAMES.items():
        lines = lines.replace(f"<{name}>", pattern)
    stripped = (line.strip() for line in lines.splitlines())
    return re.compile("|".join(f"(?:{line})" for line in stripped if line))


TITLES: dict[Wall, re.Pattern[str]] = {
    "bot_wall": compile_patterns(r"""
        just a (?:moment|second)\W*
        one moment,? please\W*
        please (?:wait|stand by)\W*
        attention required\W*
        (?:client|bot|browser) (?:challenge|check|verification)
        challenge validation
        (?:access|permission) (?:to this page )?(?:has been |is )?denied
        (?:sorry, )?you have been blocked
        (?:human|browser) verification
        security (?:check|verification|checkpoint|challenge)(?: required)?
        vercel security checkpoint
        (?:are you (?:a )?(?:human|robot)|robot or human)\W*
        (?:robot|captcha|bot) (?:check|verification|challenge)
        verify(?:ing)? (?:that )?you.{0,20}human\W*
        pardon our interruption\W*
        checking your browser.*
        ddos[- ]?guard|ddos protection.*
        making sure you.re not a bot\W*
        \d{3}:? forbidden
        request (?:blocked|rejected)
        (?:error: )?the request could not be satisfied
        unusual traffic.*
        error 10\d\d
        (?:einen|nur einen) moment,? ?(?:bitte)?\W*
        un (?:instant|momento)\W*
        请稍候\W*
        正在确认你是不是机器人\W*
        しばらくお待ちください\W*
        один момент\W*
    """),
    "login_wall": compile_patterns(r"""
        (?:please )?<LOG_IN>(?: required)?
        <LOG_IN> (?:to|or|with) .{1,40}
        (?:account|member|user|subscriber|customer) <LOG_IN>
        authentication required
        (?:401 )?unauthorized
        subscribe to (?:read|continue).*
        einloggen|anmelden|anmeldung
        (?:se )?connexion|se connecter
        iniciar sesi[oó]n
        accedi|inloggen|logga in|войти|вход|登录|ログイン
    """),
    "cookie_wall": compile_patterns(r"""
        before you continue(?: to .*)?
        (?:cookie|privacy) (?:consent|settings|preferences)
        (?:we value )?your privacy(?: choices)?
        (?:manage )?(?:your )?consent(?: preferences)?
        (?:.{1,40} )?cookie consent(?: and choices)?
        (?:weiterlesen )?mit werbung (?:weiterlesen )?oder .{0,40}\b(?:pur|abo)\b.{0,20}
        (?:.{1,40} )?(?:pur-abo|pur abo)(?:nnement)?
        bevor sie .* weitergehen
        avant d(?:e |')continuer.*
    """),
    "soft_404": compile_patterns(r"""
        (?:error|custom|fehler|erreur)?[ :]*[45]0\d(?: error)?(?: page)?[\W\d]*
        (?:error )?[45]0\d\W*(?:page |file |url )?(?:not found|gone|fehler)[\W\d]*
        .{0,40}\b<PAGE>(?: has been| was)? (?:unavailable|missing|removed|expired|gone)\W*
        .{0,40}\b<PAGE>(?: (?:was|is|could|can))?(?: ?not|n.t)(?: be)? found(?:\W*\d{3}.*)?\W*
        (?:\W*sorry\W+)?(?:we )?<CANNOT> find (?:that|the|this|your) page\W*
        not found[\W\d]*
        oops\W*
        errors?
        sorry\W.{0,20}\b404\b
        (?:\d{3} )?vcl not found
        (?:seite|datei) (?:wurde )?nicht gefunden\W*
        page (?:non trouvée|introuvable)\W*
        p[áa]gina n(?:[ãa]o|o) encontrada\W*
        pagina (?:non trovata|niet gevonden)\W*
        страница не найдена\W*|сторінка не знайдена\W*
        (?:页面|網頁|网页)(?:不存在|未找到|找不到)\W*
        找不到(?:页面|网页|頁面)\W*
        ページが見つかりません\W*
        (?:this )?(?:domain|site|\S+\.\w{2,10}) (?:name )?(?:is |may be )?for sale\W*
        (?:page |site |document )?(?:has )?moved(?: permanently)?\W*
        redirecting\W*
        (?:domain )?parked(?: domain)?
        account suspended\W*
        site not published\W*
    """),
    "empty": compile_patterns(r"""
        loading\W*
        javascript (?:is )?(?:required|disabled)\W*
        unsupported browser\W*
    """),
}
"""Patterns that match a whole title, or a whole part of one (`page not found | the courier`)."""

WORDS: dict[Wall, re.Pattern[str]] = {
    "bot_wall": compile_patterns(r"""
        (?:verify|confirm|prove|ensure|check)(?:ing)? (?:that )?you(?:.re| are) (?:a )?human
        you(?:.re| are) not a (?:ro)?bot\b
        \bnot a robot\b
        checking (?:if the site connection is secure|your browser)
        review the security of your connection
        you have been blocked
        unusual (?:traffic|activity) (?:coming )?from (?:your|this)
        you (?:don.t|do not) have permission to access
        access (?:to this (?:page|site|resource) )?(?:has been|is|was) (?:denied|blocked|restricted)
        enable (?:javascript|js) and (?:cookies|disable any ad)
        complete the (?:security check|captcha|action|challenge)
        press (?:&|and) hold
        \bray id:? \W{0,3}[0-9a-f]{8,}
        incapsula incident|incident id:
        reference (?:id|#):? ?[#\d][\w.-]{5,}
        required part of this site couldn.t load
        performance (?:&|and) security by
        (?:solve|slide|complete) (?:the|this) (?:captcha|puzzle|slider)
        (?:block|stop|prevent)(?:s|ing)? automated (?:access|requests|queries|traffic)
        automated (?:access|requests|queries|traffic|tools?) (?:to|from|are|is|has)
        your (?:request|ip address?) (?:was|has been|is) (?:temporarily )?blocked
        ddos protection by
        启用了 anubis
        protected by (?:anubis|datadome|perimeterx|human security)
        something about your browser made us think
        as you were browsing
        the request could not be satisfied|request blocked\.
        disable any ad blockers
        having trouble accessing google search
        \buser validation|ユーザー検証
        please enable cookies\.
    """),
    "login_wall": compile_patterns(r"""
        <LOG_IN> (?:or (?:register|sign up|subscribe) )?to (?:continue|view|read|see|access|proceed)
        (?:must|need to|have to) (?:be (?:logged|signed) in|<LOG_IN>|register) to (?:view|read|see)
        (?:must|need to|have to) (?:be (?:logged|signed) in|<LOG_IN>) to (?:access|continue)
        please <LOG_IN> (?:to|below|with|using|or)
        forgot(?:ten)? (?:your )?(?:password|username)
        to (?:keep|continue) reading
        subscribe (?:now )?to (?:continue|read|unlock|keep)
        (?:only|reserved|exclusively)(?: available)? (?:for|to) (?:our )?(?:subscribers|members)
        remember me
        (?:don.t|already) have an account\?|already a (?:subscriber|member)\?
        <LOG_IN> with (?:facebook|google)|continue with google
        your institution|institutional access
        passwort vergessen|mot de passe oublié|olvidaste tu contraseña
        忘记密码|パスワードをお忘れ
    """),
    "cookie_wall": compile_patterns(r"""
        (?:we|our)\b.{0,60}\bpartners?\b.{0,80}\b(?:use|store|process|value|access)
        \baccept (?:all|cookies)\b
        before you continue to
        (?:manage|your) (?:consent|privacy|cookie)s? (?:choices|preferences|settings|options)
        withdraw (?:your )?consent
        legitimate interest
        reject all
        consent to (?:the use of )?cookies
        alle akzeptieren|tout accepter|aceptar todo|accetta tutto
        uses? cookies and (?:similar|other)|mit werbung (?:und tracking|(?:weiter)?lesen)
        ohne (?:werbe-?)?tracking|pur-abo
    """),
    "soft_404": compile_patterns(r"""
        \b<PAGE>\b[^.]{0,60}\b<MISSING>
        \burl\b.{0,200}\bwas not found\b
        there is (?:not a|no) (?:web ?)?page|did(?: not|n.t) find it
        <CANNOT> (?:find|locate|serve|open)\b[^.\n]{0,30}\b(?:<PAGE>|what you)
        \b<PAGE>\b[^.\n]{0,40}\b(?:has|have|was)(?: been)? (?:moved|removed|deleted|renamed|retired)
        \b(?:page|file|url) not found\b
        \b404 (?:error|not found)|error 404|error \(404\)
        (?:outdated|broken|dead|expired) link|link that brought you here
        mistyp|(?:typed|entered) (?:the|a) (?:web )?address|check the (?:url|address|spelling)
        status code:? 404
        (?:this|the) domain\b.{0,40}\b(?:for sale|parked|expired)
        buy this domain|related searches:
        no (?:results|records?|entries|products) (?:were |was )?found
        the (?:specified|object) key does not exist
        welp, you seem to be lost|we.re having trouble finding
        (?:return|go back|take me|back) (?:to (?:the )?)?home
        here is (?:our|the) (?:home|front) ?page|try (?:using )?(?:the |our )?search
        nicht gefunden|introuvable|no encontrad|non trovata|niet gevonden
        не найден|не (?:була )?знайден|不存在|見つかりません
        object moved|document has moved|(?:site|page) has moved
        you should be redirected|redirect(?:ed|ing) (?:you )?(?:to|automatically)
        varnish cache server|account has been suspended
        site is (?:not|no longer) (?:published|available)
    """),
    "empty": compile_patterns(r"""
        (?:enable|turn on|activate|requires?|needs?)\b.{0,20}javascript
        javascript\b.{0,30}\b(?:disabled|required|enabled|available|turned off)
        (?m:^[^\w\n]*loading[^\w\n]*$)
        unsupported browser|browser (?:is not|isn.t|is no longer) supported
        browser (?:does not|doesn.t|cannot) (?:support|display|handle|show) (?:inline )?i?frames
        something went wrong|sorry to interrupt|temporary error\. please try again
    """),
}

CONSENT = compile_patterns(r"""
    \bcookies?\b|\btrack(?:ing|ers?)\b|\bconsent|personal data|your (?:privacy|data)
    zustimm|einwillig|datenschutz|\bwerbung\b|pur-abo|personenbezogen
    consentement|traceurs|vie privée|données personnelles|publicités? personnalisée
    consentimiento|privacidad|datos personales|publicidad personalizada
    consenso|dati personali|pubblicità|tracciamento
    toestemming|persoonsgegevens|privacyinstellingen|advertenties
    consentimento|dados pessoais|samtyc?kk?e|person(?:uppgifter|oplysninger)|zgod[ayę]|souhlas
""")
"""Words of consent in some languages, for pages at an address of consent pages."""

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
