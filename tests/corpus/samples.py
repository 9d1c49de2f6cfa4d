"""A small treebank or transcript in each format, made up."""

PENN = """
( (S (NP-SBJ-1 (DT The) (NN cat))
     (VP (VBD was) (VP (VBN fed) (NP (-NONE- *-1))))
     (. .)))

(ROOT (FRAG (UH oh)) (, ,) (SBARQ (WHNP=2 (WP what)))) ( (X (SYM ***)))
"""

CORPUSSEARCH = """\
/*
PREFACE: made up
*/
( (METADATA (AUTHOR A_NOBODY) (GENRE FICTION)))

/~*
It befell that the queen can not come.
(CMTEST,2.3)
*~/


( (CODE <P_2>)
  (IP-MAT (NP-SBJ-1 (PRO It))
          (VBD befell)
          (, ,)
          (CP-THT-1 (C that)
                    (IP-SUB (NP-SBJ (D the) (N queen))
                            (MD can@) (NEG @not) (CODE {TEXT:cannot}) (VB come)))
          (. .))
  (ID CMTEST,2.3))

( (IP-MAT (NP-SBJ *con*)
          (VBD said)
          (' ')
          (CP-THT (C 0)
                  (IP-SUB (NP-SBJ (D the) (N man) (CP-REL (WNP-2 0) (NP-SBJ *T*-2)))
                          (VBD slept)
                          (ADVP-TMP (ADV21 a) (ADV22 gain))
                          (LATIN (FW ergo))))
          (COMMENT note)
          (" "))
  (ID CMTEST,2.4))
"""
LEMMAS = """
( (IP-MAT (NP-SBJ (N-N Maður$-maður) (D-N $inn-hinn))
          (VBDI sá-sjá) (NP-OB1 (N-A e-mail-e-mail)) (, ,-,) (, ---) (. .-.))
  (ID 1150.TEST.SCI-LIN,.1))
( (IP-MAT (NP-SBJ (PRO-N hann-hann)) (NP-OB1 *pro*) (VBPI sefur-sofa) (. .-.))
  (ID 1150.TEST.SCI-LIN,.2))
"""

CESS = """
(
  (S
    (sn-SUJ
      (da0ms0 El el)
      (ncms000 perro perro))
    (grup.verb
      (vmip3s0 ladra ladrar))
    (Fpa -Fpa- -Fpa-)
    (rg hoy hoy)
    (Fpt -Fpt- -Fpt-)
    (Fp . .)))
(
  (S
    (sn.e-SUJ *0*)
    (vmip3p0 cantan cantar)))
"""

SINICA = """\
#1:1.[11] S(agent:NP(property:N(Head:Nba:黑)|Head:Nab:貓)|time:Dd:慢慢|Head:V:走)#，(COMMACATEGORY)
#2:2.[12] NP(Head:DM:兩隻)#

#3:3.[] VP(Head:VC2:吃|goal:NP(Head:Nab:魚))#！(EXCLANATIONCATEGORY)」(PARENTHESISCATEGORY)
"""

EXPORT = """\
%% a small treebank
#FORMAT 3
#BOT WORDTAG
-1\tUNKNOWN\tN\t???
0\tART\tN\tarticle
#EOT WORDTAG
#BOS 1 2 1060 4 %% checked
Den\t\t\tART\tAcc.Sg\tNK\t500
Hund\t\t\tNN\tAcc.Sg\tNK\t500\tOA\t502
,\t\t\t$,\t--\t--\t0
hat\t\t\tVAFIN\t3.Sg\tHD\t502
sie\t\t\tPPER\tNom\tSB\t502
gesehen\t\t\tVVPP\t--\tHD\t501\t%% late
.\t\t\t$.\t--\t--\t0
#500\t\t\tNP\t--\tOA\t501
#501\t\t\tVP\t--\tOC\t502
#502\t\t\tS\t--\t--\t0
#EOS 1
#BOS 2 2 1060 4
(\t\t\t$(\t--\t--\t0
nein\t\t\tPTKANT\t--\t--\t0
)\t\t\t$(\t--\t--\t0
#EOS 2
"""
EXPORT_4 = EXPORT.replace("#FORMAT 3", "#FORMAT 4").replace("\t\t\t", "\t\tlemma\t")
EXPORT_TREE = (
    "(ROOT (S (NP (ART Den) (NN Hund)) ($, ,) (VAFIN hat) (PPER sie) (VP (VVPP gesehen))) ($. .))"
)

ALPINO_SENTENCE = """\
<alpino_ds version="1.2">
  <node begin="0" cat="top" end="6" id="0" rel="top">
    <node begin="2" end="3" id="1" pos="punct" rel="--" word=","/>
    <node begin="0" cat="smain" end="5" id="2" rel="--">
      <node begin="0" end="1" id="3" index="1" pos="pron" rel="su" word="Zij"/>
      <node begin="1" end="2" id="4" pos="verb" rel="hd" word="zag"/>
      <node begin="0" cat="inf" end="5" id="5" rel="vc">
        <node begin="0" end="1" id="6" index="1" rel="su"/>
        <node begin="4" end="5" id="7" pos="verb" rel="hd" word="rennen"/>
      </node>
      <node begin="3" end="4" id="8" pt="n" rel="obj1" word="caf\u00e9s"/>
    </node>
    <node begin="5" end="6" id="9" pos="punct" rel="--" word="("/>
  </node>
  <sentence>Zij zag , caf\u00e9s rennen (</sentence>
</alpino_ds>
"""
ALPINO_TREE = (
    "(top (smain (pron Zij) (verb zag) (punct ,) (n caf\u00e9s) (inf (verb rennen))) (punct -LRB-))"
)
ALPINO_GAPS = """<alpino_ds><node cat="top">
<node cat="smain" rel="--">
<node cat="np" rel="obj1">
<node begin="0" pos="noun" rel="hd" word="Iets"/>
<node cat="rel" rel="mod"><node begin="3" pos="pron" rel="hd" word="dat"/></node></node>
<node begin="1" pos="verb" rel="hd" word="zag"/><node begin="2" pos="pron" rel="su" word="zij"/>
</node></node></alpino_ds>"""


def alpino(*sentences):
    return '<?xml version="1.0"?>\n<alpino>\n' + "".join(sentences) + "</alpino>\n"


TIGER_SENTENCE = """\
<s id="s1">
<graph root="s1_VROOT">
<terminals>
<t id="s1_1" word="Den" lemma="der" pos="ART"/>
<t id="s1_2" word="Hund" pos="NN"><secedge label="OA" idref="s1_502"/></t>
<t id="s1_3" word="," pos="$,"/>
<t id="s1_4" word="sah" pos="VVFIN"/>
<t id="s1_5" word="sie" pos="PPER"/>
<t id="s1_6" word="an" pos="PTKVZ"/>
<t id="s1_7" word="." pos="$."/>
</terminals>
<nonterminals>
<nt id="s1_500" cat="NP"><edge label="NK" idref="s1_2"/><edge label="NK" idref="s1_1"/></nt>
<nt id="s1_501" cat="VP"><edge label="OA" idref="s1_500"/><edge label="HD" idref="s1_6"/></nt>
<nt id="s1_502" cat="S">
<edge label="OC" idref="s1_501"/><edge label="HD" idref="s1_4"/><edge label="SB" idref="s1_5"/>
<secedge label="SB" idref="s1_5"/>
</nt>
<nt id="s1_VROOT" cat="VROOT">
<edge label="--" idref="s1_502"/><edge label="--" idref="s1_3"/><edge label="--" idref="s1_7"/>
</nt>
</nonterminals>
</graph>
</s>
"""
TIGER_HEAD = '<?xml version="1.0"?>\n<corpus id="c">\n<head><annotation/></head>\n<body>\n'
TIGER_TAIL = "</body>\n</corpus>\n"
TIGER_TREE = (
    "(ROOT (S (NP (ART Den) (NN Hund)) ($, ,) (VVFIN sah) (PPER sie) (VP (PTKVZ an))) ($. .))"
)

CHAT = """\
@UTF8
@PID:	1/2
@Begin
@Languages:	eng
@Participants:	KID Ada Target_Child , MOT Mother ,
	INV Bo_Li Investigator
@ID:	eng|made|KID|2;1.|female|||Target_Child|||
@ID:	eng|made|MOT|||||Mother|||
*KID:	kitty !
%mor:	n|kitty !
*MOT:	yes , that's the
	kitty &=laughs
	on the mat .
%com:	points at it ,
	twice
*INV:	xxx .
@Comment:	a break
*MOT:	<look at> [/] look [?] !

*CHI:	me too .
@End
"""


def row(identifier, form="x", tag="X"):
    return "\t".join([str(identifier), form, "_", tag, *"______"])


def block(*rows, comments=()):
    return "\n".join([*comments, *rows]) + "\n\n"


CONLLU = block(
    row(1, "Cats", "NOUN"),
    row("2-3", "don't"),
    row(2, "do", "AUX"),
    row(3, "n't", "PART"),
    row("3.1", "really"),
    row("3.2", "ever"),
    row(4, "bark", "VERB"),
    row(5, ".", "PUNCT"),
    comments=["# sent_id = 1", "# speaker_role = Mother", "# speaker = MOT", "# text = …"],
) + block(row("0.1"), row(1, "Yes", "INTJ"))
