"""Pages in the markup of English Wikipedia's two parsers, written by hand for the tests."""

LEGACY = """
<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
<div class="shortdescription nomobile noexcerpt noprint searchaux" style="display:none">Ship</div>
<style data-mw-deduplicate="TemplateStyles:r1">.mw-parser-output .hatnote{font-style:italic}</style>
<div role="note" class="hatnote navigation-not-searchable">For the
film, see <a href="/wiki/F">F</a>.</div>
<p class="mw-empty-elt"></p>
<table class="box-More_citations plainlinks metadata ambox ambox-content"
role="presentation"><tbody>
<tr><td class="mbox-text">This article needs additional citations.</td></tr></tbody></table>
<table class="infobox vcard"><tbody><tr><th colspan="2" class="infobox-above">Aurora</th></tr>
<tr><th scope="row">Builder</th><td>Infobox Yard</td></tr></tbody></table>
<p>The <i><b>Aurora</b></i> (<span class="rt-commentedText nowrap"><span class="IPA
nopopups noexcerpt" lang="en-fonipa"><a
href="/wiki/Help:IPA/English">/əˈrɔːrə/</a></span></span><sup
class="ext-phonos-attribution noexcerpt navigation-not-searchable"><a
href="/wiki/File:A.ogg">ⓘ</a></sup>)
was a&#160;<a href="/wiki/Ship" title="Ship">ship</a> of 10<sup>6</sup>&nbsp;kg and
5&nbsp;m<sup>2</sup>,
the 5<sup>th</sup> of <span class="nowrap">H<sub>2</sub>O</span>.<sup id="cite_ref-1"
class="reference"><a href="#cite_note-1"><span class="cite-bracket">&#91;</span>1<span
class="cite-bracket">&#93;</span></a></sup><sup class="noprint Inline-Template Template-Fact"
style="white-space:nowrap;">&#91;<i><a href="/wiki/WP:CN">citation needed</a></i>&#93;</sup>
<span class="geo-inline"><span class="geo-default"><span class="latitude">44°30′N</span></span><span
class="geo-multi-punct">&#xfeff; / &#xfeff;</span><span
class="geo-nondefault">44.5</span></span></p>
<span id="coordinates">Coordinates: 44°N</span>
<meta property="mw:PageProp/toc" /><div id="toc" class="toc" role="navigation"><h2>Contents</h2>
<ul><li><a href="#History"><span class="toctext">History of the contents</span></a></li></ul></div>
<div class="mw-heading mw-heading2"><h2 id="History">History</h2><span class="mw-editsection">[<a
href="/w/index.php?action=edit">edit</a>]</span></div>
<figure class="mw-default-size" typeof="mw:File/Thumb"><a href="/wiki/File:X.jpg"><img
alt="Alt words" src="//upload.wikimedia.org/x.jpg" /></a>
<figcaption>Caption words</figcaption></figure>
<div class="thumb tright"><div class="thumbinner"><div
class="thumbcaption">Old caption</div></div></div>
<ul class="gallery mw-gallery-traditional"><li class="gallerybox"><div class="gallerytext">Gallery
words</div></li></ul>
<p>First line.<br />
Second line with <span style="display:none">hidden words</span>energy <span
class="mwe-math-element mwe-math-element-inline"><span class="mwe-math-mathml-inline
mwe-math-mathml-a11y" style="display: none;"><math xmlns="http://www.w3.org/1998/Math/MathML"
alttext="{\\displaystyle E=mc^{2}}"><semantics><mrow><mi>E</mi></mrow><annotation
encoding="application/x-tex">{\\displaystyle E=mc^{2}}</annotation></semantics></math></span><img
src="https://wikimedia.org/x.svg" class="mwe-math-fallback-image-inline" aria-hidden="true"
alt="{\\displaystyle E=mc^{2}}" /></span>.</p>
<ul><li>Alpha<ul><li>Beta</li><li>Gamma<ol start="3"><li>Three</li><li>Four</li></ol></li></ul></li>
<li>Delta</li></ul>
<dl><dt>Term</dt><dd>Its meaning.</dd></dl>
<blockquote class="templatequote"><p>Quoted words.</p><p>And more.</p>
<div class="templatequotecite">— <cite>Author</cite></div></blockquote>
<div class="poem"><p>Verse one<br />
Verse two</p></div>
<table class="wikitable sortable"><caption>Runs of the ship<sup class="reference"><a
href="#cite_note-2">&#91;2&#93;</a></sup></caption><tbody>
<tr><th>Year</th><th colspan="2">Route</th><th>Ref.</th></tr>
<tr><td rowspan="2">1901</td><td>Oslo|Kiel</td><td><ul><li>a</li><li>b</li></ul></td><td><sup
class="reference">[3]</sup></td></tr>
<tr><td>Turku<br />Åbo</td><td><span class="sortkey">01</span>c</td><td></td></tr></tbody></table>
<table role="presentation" class="col-begin"><tbody><tr>
<td class="col-break"><ul><li>Left</li></ul></td>
<td class="col-break"><ul><li>Right</li></ul></td></tr></tbody></table>
<div class="quotebox floatright"><blockquote class="quotebox-quote left-aligned">Pulled
words.</blockquote></div>
<div class="mw-heading mw-heading3"><h3 id="Pictures">Pictures</h3></div>
<ul class="gallery"><li class="gallerybox">More gallery words</li></ul>
<div class="mw-heading mw-heading2"><h2 id="See_also">See also</h2></div>
<ul><li><a href="/wiki/Other">Other ship</a></li></ul>
<div class="mw-heading mw-heading2"><h2 id="Notes_and_references">Notes and references</h2></div>
<div class="mw-heading mw-heading3"><h3 id="Primary">Primary</h3></div>
<div class="reflist"><div class="mw-references-wrap"><ol class="references">
<li id="cite_note-1"><span class="mw-cite-backlink"><b><a href="#cite_ref-1">^</a></b></span> <span
class="reference-text"><cite class="citation web cs1"><a rel="nofollow" class="external text"
href="https://example.org/ship">"The Ship"</a>. <a rel="nofollow" class="external text"
href="https://web.archive.org/web/20200101000000/https://example.org/ship">Archived</a> from the
original.</cite></span></li></ol></div></div>
<div class="mw-heading mw-heading2"><h2 id="External_links">External links</h2></div>
<div class="side-box sistersitebox">Wikimedia Commons has media.</div>
<div class="navbox-styles"></div><div role="navigation" class="navbox">Navbox words</div>
<div class="portal-bar noprint metadata">Portal words</div></div>
"""

LEGACY_MARKDOWN = """\
# Aurora (1901 ship)

The Aurora (/əˈrɔːrə/) was a ship of 10⁶ kg and 5 m², the 5th of H2O. 44°30′N

## History

First line.
Second line with energy $E=mc^{2}$.

- Alpha
  - Beta
  - Gamma
    3. Three
    4. Four
- Delta

**Term**

Its meaning.

> Quoted words.
>
> And more.
>
> — Author

Verse one
Verse two

**Runs of the ship**

| Year | Route | Route |
| --- | --- | --- |
| 1901 | Oslo\\|Kiel | a; b |
| 1901 | Turku Åbo | c |

- Left

- Right

> Pulled words."""

PARSOID = """
<body id="mwAA" lang="en" class="mw-content-ltr sitedir-ltr ltr mw-body-content parsoid-body
mediawiki mw-parser-output" dir="ltr"><section data-mw-section-id="0" id="mwAQ">
<div class="shortdescription" about="#mwt1" typeof="mw:Transclusion" data-mw='{"parts":[]}'>X</div>
<p id="mwAg">A <b>bridge</b> of <a rel="mw:WikiLink" href="./Stone" title="Stone">stone</a>.<sup
about="#mwt2" class="mw-ref reference" rel="dc:references" typeof="mw:Extension/ref"><a
href="./Bridge#cite_note-1"><span class="mw-reflink-text">[1]</span></a></sup> See
<a rel="mw:ExtLink nofollow" href="https://example.org/x" class="external autonumber">[1]</a>it.
<span class="mw-default-size" typeof="mw:File"><a href="./File:A.svg"><img alt="Icon"
src="//a.svg"/></a></span></p></section>
<section data-mw-section-id="1"><h2 id="Use"><i>Use</i> #</h2><p>Carts.</p></section>
<section data-mw-section-id="2"><h2 id="References">References</h2>
<div class="mw-references-wrap" typeof="mw:Extension/references"><ol class="mw-references
references"><li id="cite_note-1"><span class="mw-reference-text"><a rel="mw:ExtLink nofollow"
href="https://doi.org/10.1000/182" class="external text">Doi</a></span></li></ol></div></section>
</body>
"""

PARSOID_MARKDOWN = """\
# Bridge

A bridge of stone. See it.

## Use \\#

Carts."""
